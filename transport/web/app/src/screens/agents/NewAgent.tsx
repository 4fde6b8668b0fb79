import { useState } from 'preact/hooks';
import { newKey, post } from '../../api';
import type { ServiceToken } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { ask, Dialog } from '../../ui/Dialog';
import { Field, Select } from '../../ui/Field';
import { useAct } from '../../ui/useAct';
import { addTo } from './api';
import { bearer } from './clients';
import { Connect } from './Connect';
import { mandateOf, problemOf, usual, type Grant } from './mandate';
import { MandateForm } from './MandateForm';
import type { Place } from './places';

const spans = [
  { value: '30', label: 'A month' },
  { value: '90', label: 'Three months' },
  { value: '365', label: 'A year' },
] as const;

// Made is the answer to who makes a token, or another secret for it. A repetition has no secret.
export type Made = { service_token: ServiceToken; client_secret: string | null };

// NewAgent makes a token with a mandate, adds the agent to its places, and shows once how
// clients connect with it.
export function NewAgent({ grants, places, onClose, onMade }: { grants: readonly Grant[]; places: readonly Place[]; onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState<(typeof spans)[number]['value']>('90');
  const [choices, setChoices] = useState(usual);
  const [wrong, setWrong] = useState<string | null>(null);
  const [made, setMade] = useState<(Made & { missing: string[] }) | null>(null);
  const [key, setKey] = useState(newKey);
  const [opened] = useState(Date.now); // a repetition under the same key says the same
  const act = useAct();
  if (made) return <Ready of={made} missing={made.missing} onClose={onClose} />;
  const changed = () => {
    setKey(newKey());
    setWrong(null);
  };
  const make = async () => {
    const problem = problemOf(choices);
    setWrong(problem);
    if (!name.trim() || problem) return;
    await act.run(async () => {
      const expires_at = new Date(opened + Number(days) * 86_400_000).toISOString();
      const mandate = mandateOf(choices, grants);
      const answer = await post<Made>('/api/service-tokens', { name: name.trim(), expires_at, ...(mandate && { mandate }) }, { key });
      const missing = await addTo(mandate?.places ?? [], answer.service_token.user_id);
      setMade({ ...answer, missing });
      onMade();
    });
  };
  return (
    <Dialog
      title="Connect an agent"
      onClose={onClose}
      onSubmit={() => void make()}
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
          changed();
        }}
        maxLength={64}
        autocomplete="off"
        hint="As others see it in rooms and in the log."
      />
      <MandateForm
        value={choices}
        onValue={(value) => {
          setChoices(value);
          changed();
        }}
        grants={grants}
        places={places}
      />
      <Select
        label="The token holds for"
        value={days}
        options={spans}
        onValue={(value) => {
          setDays(value);
          changed();
        }}
      />
      <Problem of={wrong && new Error(wrong)} />
      <Problem of={act.problem} />
    </Dialog>
  );
}

// Ready asks before it closes: what it shows is never shown again.
export function Ready({ of: { service_token, client_secret }, missing = [], onClose }: { of: Made; missing?: readonly string[]; onClose: () => void }) {
  const close = async () => {
    if (!client_secret || (await ask({ title: 'Have you copied it?', text: 'The token is shown only now. Without it, revoke the token and make another.', action: 'I have it' }))) onClose();
  };
  return (
    <Dialog
      title={`Connect ${service_token.name}`}
      onClose={close}
      actions={
        <Button kind="primary" onClick={close}>
          Done
        </Button>
      }
    >
      {missing.length > 0 && <p class="problem">It couldn’t be added to {missing.join('; ')}</p>}
      {client_secret ? <Connect token={bearer(service_token.client_id, client_secret)} /> : <p>This token was made before, and was shown then. If it is lost, revoke it and make another.</p>}
    </Dialog>
  );
}
