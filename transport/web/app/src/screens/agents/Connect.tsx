// How an agent's client is told of this server: one tab a client, with the agent's own token or
// by signing in.

import { useState } from 'preact/hooks';
import { Secret } from '../../ui/Bits';
import { Choice } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { clients, endpoint, fill } from './clients';

type Way = 'token' | 'sign_in';

const ways = [
  { value: 'token', label: 'With its token' },
  { value: 'sign_in', label: 'By signing in' },
] as const;

// Connect shows the snippets. Without a token a client signs in alone.
export function Connect({ token }: { token: string | null }) {
  const [id, setId] = useState(clients[0]!.id);
  const [way, setWay] = useState<Way>(token === null ? 'sign_in' : 'token');
  const client = clients.find((c) => c.id === id)!;
  const { where, text, link } = fill(client[way], endpoint(location.origin), token ?? '');
  return (
    <>
      {token !== null && <Choice label="How it connects" value={way} options={ways} onValue={setWay} />}
      {way === 'token' ? (
        <p class="notice">The token is shown only now.</p>
      ) : (
        <p class="hint">The client opens your browser. You sign in there as you always do, and choose what the agent may do. It needs no token, and is an agent of its own.</p>
      )}
      <Choice label="Client" many value={id} options={clients.map((c) => ({ value: c.id, label: c.label }))} onValue={setId} />
      {link && (
        <a class="button primary wide" href={link}>
          <Icon name="plus" />
          <span>Add to {client.label}</span>
        </a>
      )}
      <p class="hint">{where}</p>
      <Secret label={`What ${client.label} is told`} text={text} />
    </>
  );
}
