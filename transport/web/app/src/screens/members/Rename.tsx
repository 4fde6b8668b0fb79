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
import { t } from '../../words';

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
      title={t(self ? 'rename.self' : of.is_service ? 'rename.agent' : 'rename.member')}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={oneLine(name) === (of.name ?? '')}>
            {t('do.save')}
          </Button>
        </>
      }
    >
      <Field label={t('rename.name')} value={name} onValue={setName} maxLength={64} autocomplete={self ? 'name' : 'off'} hint={t('rename.hint', { other: of.email ? 'email' : 'id' })} />
      <Problem of={act.problem} />
    </Dialog>
  );
}
