import { useState } from 'preact/hooks';
import { at, del } from '../../api';
import { addPasskey, passkeys, passkeysWork } from '../../passkey';
import { me } from '../../session';
import type { Passkey } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask, Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { LastChance } from '../AddPasskey';
import { deviceName } from './device';

// Passkeys are what one signs in with next time: a face, a finger or a key.
export function Passkeys() {
  const list = useLoad(passkeys);
  const [adding, setAdding] = useState(false);
  return (
    <Section
      title="Passkeys"
      actions={
        passkeysWork && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add
          </Button>
        )
      }
    >
      <Await of={list}>
        {({ passkeys: own }) =>
          own.length === 0 ? (
            <None />
          ) : (
            <List label="Passkeys">
              {own.map((p) => (
                <Row
                  key={p.id}
                  start={<Icon name="key" />}
                  title={p.name}
                  sub={
                    <>
                      Added <Time at={p.created_at} as="date" />
                      {p.last_used_at && (
                        <>
                          , last used <Time at={p.last_used_at} />
                        </>
                      )}
                    </>
                  }
                  end={<Button kind="quiet" icon="trash" label={`Remove ${p.name}`} onClick={() => void remove(p, list.reload)} />}
                />
              ))}
            </List>
          )
        }
      </Await>
      {adding && <Add onClose={() => setAdding(false)} onAdded={list.reload} />}
    </Section>
  );
}

function None() {
  if (me.value?.identity.unproven) {
    return (
      <p class="notice">
        <LastChance />
      </p>
    );
  }
  return <p class="soft">{passkeysWork ? 'None yet. With a passkey you sign in by face, finger or PIN, without a link.' : 'None yet. This browser has no passkeys here: they need https, or this machine.'}</p>;
}

function Add({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [name, setName] = useState(deviceName);
  const act = useAct();
  const add = async () => {
    const added = await act.run(() => addPasskey(name.trim()).catch(inWords));
    if (!added) return;
    toast('The passkey was added');
    onAdded();
    onClose();
  };
  return (
    <Dialog
      title="Add a passkey"
      onClose={onClose}
      onSubmit={() => name.trim() && void add()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!name.trim()}>
            Continue
          </Button>
        </>
      }
    >
      <Field label="Name" value={name} onValue={setName} maxLength={128} hint="To tell it from others. Your device asks for your face, finger or PIN next." />
      <Problem of={act.problem} />
    </Dialog>
  );
}

// inWords puts what browsers say into words: most say little on purpose.
function inWords(problem: unknown): never {
  switch ((problem as Error).name) {
    case 'NotAllowedError':
      throw new Error('no passkey was made: it was cancelled, or took too long');
    case 'InvalidStateError':
      throw new Error('this device has a passkey for you already');
  }
  throw problem;
}

async function remove(p: Passkey, onDone: () => void) {
  const sure = await ask({ title: `Remove ${p.name}?`, text: 'It signs nobody in any more. Sessions that it began go on. Your device may still offer it: delete it there as well.', action: 'Remove', danger: true });
  if (sure) await del(at`/api/passkeys/${p.id}`).then(onDone, failed);
}
