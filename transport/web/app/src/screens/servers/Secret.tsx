import { useState } from 'preact/hooks';
import type { Server } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { useAct } from '../../ui/useAct';
import { change } from './api';

// Secret replaces what a server is sent to know the caller. It is sealed and never
// shown, so that one can only give another.
export function Secret({ of, onChange }: { of: Server; onChange: (now: Server) => void }) {
  const [open, setOpen] = useState(false);
  const [secret, setSecret] = useState('');
  const act = useAct();
  const close = () => {
    setOpen(false);
    setSecret('');
    act.clear();
  };
  const save = async () => {
    if (await act.run(async () => onChange((await change(of.server_id, { secret })).server))) close();
  };
  return (
    <>
      <div class="line">
        <Button icon="key" onClick={() => setOpen(true)}>
          Replace the secret
        </Button>
      </div>
      {open && (
        <Dialog
          title="Replace the secret"
          onClose={close}
          onSubmit={() => void save()}
          actions={
            <>
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" type="submit" busy={act.busy}>
                Replace
              </Button>
            </>
          }
        >
          <Field label={of.header ? `Value of ${of.header}` : of.command ? 'Secret of the program' : 'Secret of the OAuth client'} type="password" autocomplete="off" maxLength={8192} value={secret} onValue={setSecret} hint="Nothing forgets the one that is kept." />
          <Problem of={act.problem} />
        </Dialog>
      )}
    </>
  );
}
