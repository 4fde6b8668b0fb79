// The check of a message in this browser, as it comes along.

import { ApiError, at, get } from '../../api';
import { said } from '../../said';
import { canVerify, verifyReceipt, type Json } from '../../chain';
import type { Atom, Entry, EntryAnswer, Message } from '../../types';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { Spinner } from '../../ui/Spinner';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import { aboutChain, beyond, checkChain, sentAs } from './proof';

export function Proof({ message, atoms }: { message: Message; atoms: Atom[] }) {
  const receipt = useLoad(async (signal) => {
    const entry = await entryOf(message, signal);
    return verifyReceipt(sentAs(message, entry), atoms as unknown as Json[], entry.salt ?? '');
  });
  const chain = useLoad((signal) => checkChain(message, atoms[0]!, signal));
  const refused = chain.problem instanceof ApiError && chain.problem.status === 403;
  const bad = receipt.data?.ok === false || Boolean(chain.data?.bad);
  const left = beyond(message);
  const good = receipt.data?.ok === true && chain.data && !chain.data.bad && left.length === 0;
  return (
    <section class={['proof', bad && 'bad', good && 'good'].filter(Boolean).join(' ')} aria-live="polite">
      <h3>
        <Icon name={bad ? 'warning' : good ? 'check' : 'clock'} />
        {bad ? t('proof.bad') : good ? t('proof.good') : receipt.busy || chain.busy ? t('proof.busy') : t('proof.part')}
      </h3>
      <ul>
        {receipt.data?.checks.map(({ what, ok }) => <Line key={what} ok={ok} words={t(`proof.${what}.${ok ? 'held' : 'broke'}`)} />)}
        {left.map((what) => (
          <li class="later" key={what}>
            <Icon name="info" size={18} />
            <span>{t(what)}</span>
          </li>
        ))}
        {chain.data && <Line ok={!chain.data.bad} words={aboutChain(chain.data)} />}
        {chain.busy && (
          <li>
            <Spinner small /> {t('proof.following')}
          </li>
        )}
        {Boolean(chain.problem) && (
          <li class="later">
            <Icon name="info" size={18} />
            <span>{refused ? t('proof.refused') : t('proof.failed', { why: said(chain.problem) })}</span>
            {!refused && <Button kind="quiet" icon="refresh" label={t('proof.again')} onClick={chain.reload} />}
          </li>
        )}
      </ul>
    </section>
  );
}

// entryOf is the message as the receipt proves it: with what it said at first, and with the salt that
// the commitment to that was made with; messages from before salts have none.
async function entryOf({ room_id, msg_id }: Message, signal: AbortSignal): Promise<Entry> {
  return (await get<EntryAnswer>(at`/api/rooms/${room_id}/entries/${msg_id}`, { signal })).entry;
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
        {t('proof.unchecked')}
      </h3>
      <p>{t('proof.unchecked.text')}</p>
    </section>
  );
}

export const Check = canVerify() ? Proof : Unproven;
