import type { Document } from '../../types';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Diff } from '../../ui/Diff';
import { Person } from '../Person';
import { rich, t } from '../../words';

interface Props {
  theirs: Document;
  mine: string;
  busy: boolean;
  onTheirs: () => void;
  onMine: () => void;
  onEdit: () => void;
}

// Conflict shows that somebody else has saved while one wrote, and lets one choose.
export function Conflict({ theirs, mine, busy, onTheirs, onMine, onEdit }: Props) {
  return (
    <section class="conflict" role="alert" aria-label={t('editor.conflict')}>
      <h2>
        {rich('editor.conflict.title', { who: <Person id={theirs.updated_by} />, n: theirs.version, at: <Time at={theirs.updated_at} as="clock" /> })}
      </h2>
      <p>{t('editor.conflict.text')}</p>
      <Diff before={theirs.content ?? ''} after={mine} label={t('editor.conflict.diff')} />
      <div class="line">
        <Button kind="primary" busy={busy} onClick={onMine}>
          {t('editor.conflict.mine', { n: theirs.version + 1 })}
        </Button>
        <Button onClick={onEdit}>{t('editor.conflict.edit')}</Button>
        <Button kind="quiet" onClick={onTheirs}>
          {t('editor.conflict.theirs')}
        </Button>
      </div>
      <p class="hint">{t('editor.conflict.hint')}</p>
    </section>
  );
}
