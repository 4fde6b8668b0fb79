import type { Document } from '../../types';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Diff } from '../../ui/Diff';
import { Person } from '../Person';

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
    <section class="conflict" role="alert" aria-label="Somebody else has saved meanwhile">
      <h2>
        <Person id={theirs.updated_by} /> saved version {theirs.version} at <Time at={theirs.updated_at} as="clock" />
      </h2>
      <p>Your text is still here. This is how it differs from theirs:</p>
      <Diff before={theirs.content ?? ''} after={mine} label="From their text to yours" />
      <div class="line">
        <Button kind="primary" busy={busy} onClick={onMine}>
          Save mine as version {theirs.version + 1}
        </Button>
        <Button onClick={onEdit}>Keep writing</Button>
        <Button kind="quiet" onClick={onTheirs}>
          Take theirs
        </Button>
      </div>
      <p class="hint">Theirs stays readable as a version if you save yours. Taking theirs discards your text.</p>
    </section>
  );
}
