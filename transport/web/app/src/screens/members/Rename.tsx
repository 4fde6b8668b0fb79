import { useState } from 'preact/hooks';
import { check, me } from '../../session';
import { store } from '../../store';
import { oneLine } from '../../text';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { useAct } from '../../ui/useAct';
import { rename } from './api';

interface Props {
  of: { user_id: string; name?: string; email?: string | null; is_service?: boolean };
  onClose: () => void;
  onDone?: () => void;
}

// Rename changes what everybody here sees somebody called. It is shown at once in all
// screens of this device.
export function Rename({ of, onClose, onDone }: Props) {
  const [name, setName] = useState(of.name ?? '');
  const act = useAct();
  const self = of.user_id === me.value?.identity.user_id;
  const save = async () => {
    const done = await act.run(async () => {
      await rename(of.user_id, oneLine(name));
      await store.value?.people.refresh();
      if (self) await check();
    });
    if (!done) return;
    onDone?.();
    onClose();
  };
  return (
    <Dialog
      title={self ? 'Your name' : of.is_service ? 'Name of the agent' : 'Name of the member'}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={oneLine(name) === (of.name ?? '')}>
            Save
          </Button>
        </>
      }
    >
      <Field label="Name" value={name} onValue={setName} maxLength={64} autocomplete={self ? 'name' : 'off'} hint={`Everybody here sees it. Without one it is ${of.email ? 'the mail address' : 'the id'}.`} />
      <Problem of={act.problem} />
    </Dialog>
  );
}
