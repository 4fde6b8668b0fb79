import type { Server } from '../../types';
import { Field } from '../../ui/Field';
import type { NewServer } from './api';

interface Props {
  auth: Server['auth'];
  of: Partial<NewServer>;
  onChange: (now: Partial<NewServer>) => void;
}

const plain = { autocomplete: 'off', autocapitalize: 'off', spellcheck: false, dir: 'ltr' } as const;

// Credentials are the fields that each way of telling who is calling needs.
export function Credentials({ auth, of, onChange }: Props) {
  const secret = (label: string, hint?: string) => (
    <Field label={label} type="password" {...plain} maxLength={8192} value={of.secret ?? ''} onValue={(v) => onChange({ secret: v })} hint={hint ?? 'It is sealed and never shown again.'} />
  );
  if (auth === 'none') return null;
  if (auth === 'header') {
    return (
      <>
        <Field label="Header" {...plain} maxLength={128} value={of.header ?? ''} onValue={(header) => onChange({ header })} />
        {secret('Its value', 'For Authorization with the word before the key: Bearer … It is sealed and never shown again.')}
      </>
    );
  }
  const each = auth === 'authorization_code';
  const found = each ? 'Only where it can’t be discovered, or is on another host than its issuer.' : undefined;
  return (
    <>
      <Field label="Client id" {...plain} maxLength={256} value={of.client_id ?? ''} onValue={(client_id) => onChange({ client_id })} hint={each ? 'Only where the server doesn’t register clients by itself.' : undefined} />
      {secret('Client secret')}
      <Field label="Token address" type="url" {...plain} maxLength={2048} value={of.token_url ?? ''} onValue={(token_url) => onChange({ token_url })} hint="Needed with a secret, which goes nowhere else." />
      {each && <Field label="Authorization address" type="url" {...plain} maxLength={2048} value={of.authorize_url ?? ''} onValue={(authorize_url) => onChange({ authorize_url })} hint={found} />}
      <Field label="Scopes" {...plain} value={(of.scopes ?? []).join(' ')} onValue={(v) => onChange({ scopes: v.split(/\s+/) })} hint="With spaces between them." />
    </>
  );
}
