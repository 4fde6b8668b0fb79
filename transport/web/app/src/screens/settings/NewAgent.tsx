import { useState } from 'preact/hooks';
import { newKey, post } from '../../api';
import type { ServiceToken } from '../../types';
import { Problem } from '../../ui/Await';
import { Secret } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask, Dialog } from '../../ui/Dialog';
import { Choice, Field, Select } from '../../ui/Field';
import { useAct } from '../../ui/useAct';
import { configs, type Credentials } from './mcp';

const spans = [
  { value: '30', label: 'A month' },
  { value: '90', label: 'Three months' },
  { value: '365', label: 'A year' },
] as const;

type Made = { service_token: ServiceToken; client_secret: string | null };

// NewAgent makes a token, and shows once what an agent needs to sign in with it.
export function NewAgent({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState<(typeof spans)[number]['value']>('90');
  const [made, setMade] = useState<Made | null>(null);
  const [key, setKey] = useState(newKey);
  const [opened] = useState(Date.now); // a repetition under the same key says the same
  const act = useAct();
  if (made) return <Ready of={made} onClose={onClose} />;
  const make = () =>
    act.run(async () => {
      const expires_at = new Date(opened + Number(days) * 86_400_000).toISOString();
      setMade(await post<Made>('/api/service-tokens', { name: name.trim(), expires_at }, { key }));
      onMade();
    });
  return (
    <Dialog
      title="Connect an agent"
      onClose={onClose}
      onSubmit={() => name.trim() && void make()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!name.trim()}>
            Make a token
          </Button>
        </>
      }
    >
      <Field
        label="Name of the agent"
        value={name}
        onValue={(value) => {
          setName(value);
          setKey(newKey());
        }}
        maxLength={64}
        autocomplete="off"
        hint="As others see it in rooms and in the log."
      />
      <Select
        label="The token holds for"
        value={days}
        options={spans}
        onValue={(value) => {
          setDays(value);
          setKey(newKey());
        }}
      />
      <Problem of={act.problem} />
    </Dialog>
  );
}

// Ready asks before it closes: what it shows is never shown again.
function Ready({ of: { service_token, client_secret }, onClose }: { of: Made; onClose: () => void }) {
  const close = async () => {
    if (!client_secret || (await ask({ title: 'Have you copied it?', text: 'The secret is shown only now. Without it, revoke the token and make another.', action: 'I have it' }))) onClose();
  };
  return (
    <Dialog
      title={`${service_token.name} can connect`}
      onClose={close}
      actions={
        <Button kind="primary" onClick={close}>
          Done
        </Button>
      }
    >
      {client_secret ? <Configs of={{ client_id: service_token.client_id, client_secret }} /> : <p>This token was made before, and its secret was shown then. If it is lost, revoke the token and make another.</p>}
    </Dialog>
  );
}

function Configs({ of }: { of: Credentials }) {
  const all = configs(location.origin, of);
  const [id, setId] = useState(all[0]!.id);
  const chosen = all.find((c) => c.id === id)!;
  return (
    <>
      <p class="notice">The secret in it is shown only now.</p>
      <Choice label="Configuration for" value={id} options={all.map((c) => ({ value: c.id, label: c.label }))} onValue={setId} />
      <p class="hint">{chosen.hint}</p>
      <Secret label={`Configuration for ${chosen.label}`} text={chosen.text} />
    </>
  );
}
