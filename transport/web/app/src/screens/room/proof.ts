// How this browser checks a message for itself: its receipt against its text, and the
// ledger around it as a chain.

import { get, query } from '../../api';
import { fromGenesis, fromHead, verifyAtoms, verifyEnd, type Bad, type Json, type Mark } from '../../chain';
import { isDeleted, rowOf } from '../../store/entries';
import type { Atom, Atoms, Entry, LedgerHead, Message } from '../../types';
import { t, type Key } from '../../words';

// most is how many atoms are checked for one message; page is how many are asked for
// at a time.
const most = 2500;
const page = 500;

// Chain is what came of checking the atoms from one seq to another. of is the newest
// atom of the ledger.
export interface Chain {
  from: number;
  to: number;
  of: number;
  bad: Bad | null;
}

// checkChain follows the ledger from its beginning, or a long one from the message on,
// to its newest atom or as far as most.
export async function checkChain({ tenant_id, receipt }: Message, action: Atom, signal: AbortSignal): Promise<Chain> {
  const head = await get<LedgerHead>('/api/ledger/head', { signal });
  let mark = head.seq <= most ? fromGenesis(tenant_id) : fromHead(tenant_id, receipt.seq - 1, action.prev_hash);
  const from = mark.seq + 1;
  for (;;) {
    const part = await get<Atoms>('/api/atoms' + query({ from: mark.seq + 1, limit: page }), { signal });
    const own = part.atoms[receipt.seq - part.from];
    const { at, bad } = await verifyAtoms(mark, part.atoms as unknown as Json[]);
    mark = at;
    const done = (bad: Bad | null): Chain => ({ from, to: mark.seq, of: part.head.seq, bad });
    if (bad) return done(bad);
    if (own && own.cid !== receipt.cid) return done({ seq: receipt.seq, reason: 'another act stands there in the ledger' });
    if (part.next_cursor === null) return done(atEnd(mark, part, receipt.seq));
    if (mark.seq - from + 1 >= most) return done(null);
  }
}

function atEnd(mark: Mark, part: Atoms, seq: number): Bad | null {
  if (mark.seq < seq) return { seq, reason: 'the ledger doesn’t go so far' };
  return verifyEnd(mark, part.head);
}

// sentAs is a message as it was sent, which is what its receipt is of. Where it says now what it said
// then, that is what is shown.
export const sentAs = (shown: Message, entry: Entry): Message => (shown.edited ? rowOf({ ...entry, edited: undefined }) : shown);

// beyond says what is shown of a message that its receipt can't prove.
export function beyond(m: Message): Key[] {
  return [
    ...(isDeleted(m) ? ['proof.deleted' as const] : []),
    ...(m.edited ? ['proof.edited' as const] : []),
    ...(m.reply_to ? ['proof.reply' as const] : []),
    ...(m.attachments?.length ? ['proof.files' as const] : []),
    ...(m.poll && !m.poll.result ? ['proof.votes' as const] : []),
    ...(m.form ? ['proof.answers' as const] : []),
  ];
}


// aboutChain says what checking the chain found.
export function aboutChain({ from, to, of, bad }: Chain): string {
  if (bad) return t('proof.breaks', { n: bad.seq, why: bad.reason });
  return to === of ? t('proof.holds', { from, to }) : t('proof.holds.part', { from, to, of });
}
