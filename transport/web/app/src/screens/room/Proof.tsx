// The check of a message in this browser, as it comes along.

import { ApiError, at, get } from '../../api';
import { said } from '../../said';
import { canVerify, verifyReceipt, type Json } from '../../chain';
import type { Atom, EntryAnswer, Message } from '../../types';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { Spinner } from '../../ui/Spinner';
import { useLoad } from '../../ui/useLoad';
import { aboutChain, checkChain, wordsFor } from './proof';

export function Proof({ message, atoms }: { message: Message; atoms: Atom[] }) {
  const receipt = useLoad(async (signal) => verifyReceipt(message, atoms as unknown as Json[], await saltOf(message, signal)));
  const chain = useLoad((signal) => checkChain(message, atoms[0]!, signal));
  const refused = chain.problem instanceof ApiError && chain.problem.status === 403;
  const bad = receipt.data?.ok === false || Boolean(chain.data?.bad);
  const good = receipt.data?.ok === true && chain.data && !chain.data.bad;
  return (
    <section class={['proof', bad && 'bad', good && 'good'].filter(Boolean).join(' ')} aria-live="polite">
      <h3>
        <Icon name={bad ? 'warning' : good ? 'check' : 'clock'} />
        {bad ? 'This does not add up' : good ? 'Verified by this browser' : receipt.busy || chain.busy ? 'Checking…' : 'Checked in part'}
      </h3>
      <ul>
        {receipt.data?.checks.map(({ what, ok }) => <Line key={what} ok={ok} words={wordsFor[what][ok ? 0 : 1]} />)}
        {chain.data && <Line ok={!chain.data.bad} words={aboutChain(chain.data)} />}
        {chain.busy && (
          <li>
            <Spinner small /> Following the chain…
          </li>
        )}
        {Boolean(chain.problem) && (
          <li class="later">
            <Icon name="info" size={18} />
            <span>{refused ? 'You may not read the ledger, so its chain isn’t checked' : `The chain couldn’t be checked: ${said(chain.problem)}`}</span>
            {!refused && <Button kind="quiet" icon="refresh" label="Check again" onClick={chain.reload} />}
          </li>
        )}
      </ul>
    </section>
  );
}

// saltOf is what the commitment to the message's text was made with; messages from before
// salts have none.
async function saltOf({ room_id, msg_id }: Message, signal: AbortSignal): Promise<string> {
  const { entry } = await get<EntryAnswer>(at`/api/rooms/${room_id}/entries/${msg_id}`, { signal });
  return entry.salt ?? '';
}

function Line({ ok, words }: { ok: boolean; words: string }) {
  return (
    <li class={ok ? 'ok' : 'broken'}>
      <Icon name={ok ? 'check' : 'warning'} size={18} />
      <span>{words}</span>
    </li>
  );
}

// Unproven stands where a browser can't calculate hashes.
export function Unproven() {
  return (
    <section class="proof">
      <h3>
        <Icon name="info" />
        Not checked
      </h3>
      <p>Browsers check only on https, or on the server’s own machine. `ubl verify` checks the whole ledger anywhere.</p>
    </section>
  );
}

export const Check = canVerify() ? Proof : Unproven;
