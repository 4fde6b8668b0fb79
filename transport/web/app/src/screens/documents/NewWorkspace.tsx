// Making a workspace, which one then owns.

import { useMemo, useState } from 'preact/hooks';
import { newKey, post } from '../../api';
import { go } from '../../router';
import type { Physics } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Choice, Field } from '../../ui/Field';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';

type For = 'all' | 'members';

const audiences = (): readonly { value: For; label: string; hint: string }[] => [
  { value: 'all', label: t('newworkspace.all'), hint: t('newworkspace.all.hint') },
  { value: 'members', label: t('newworkspace.members'), hint: t('newworkspace.members.hint') },
];

// physicsFor differ in whom the workspace lets in.
const physicsFor = (audience: For): Physics => ({ fungibility: 'versioned', topology: 'objects', permeability: audience === 'all' ? 'open' : 'collaborative', execution: 'sandboxed' });

export function NewWorkspace({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('');
  const [audience, setAudience] = useState<For>('all');
  const key = useMemo(newKey, [name, audience]); // another workspace is another act
  const act = useAct();
  const make = () =>
    act.run(async () => {
      const physics = physicsFor(audience);
      const { workspace_id } = await post<{ workspace_id: string }>('/api/workspaces', { name: name.trim(), physics }, { key });
      onMade();
      onClose();
      go(`/ui/workspaces/${workspace_id}`);
    });
  return (
    <Dialog
      title={t('newworkspace.title')}
      onClose={onClose}
      onSubmit={() => name.trim() && void make()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!name.trim()}>
            {t('newworkspace.action')}
          </Button>
        </>
      }
    >
      <Field label={t('newroom.name')} value={name} onValue={setName} maxLength={128} autocomplete="off" />
      <Choice label={t('newworkspace.who')} value={audience} options={audiences()} onValue={setAudience} hint={audiences().find((a) => a.value === audience)?.hint} />
      <Problem of={act.problem} />
    </Dialog>
  );
}
