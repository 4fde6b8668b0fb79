// verify.ts reads a whole ledger and checks it with chain.ts, page by page. What was
// checked is remembered on this device: should the server ever tell of another past,
// the next check says so.

import { get, query } from '../../api';
import { verifyAtoms, verifyEnd, type Bad, type Json, type Mark } from '../../chain';
import type { Atoms, LedgerHead } from '../../types';

const page = 500; // atoms, the most that the server gives at once

export interface Progress {
  at: Mark;
  // goal is the last seq that there was when the check began.
  goal: number;
}

export interface Verdict extends Progress {
  bad: Bad | null;
  // noted is the seq behind which the head stood that a person had noted, null where
  // it didn't turn up, undefined where none was given.
  noted?: number | null;
  // since is the seq up to which this device had checked the ledger before, 0 for a check from the
  // first atom on.
  since: number;
  head: string;
}

// verify checks from a mark on. A head that a person noted earlier is looked for on
// the way: where it turns up, everything before it is what it was then.
export async function verify(from: Mark, noted: string, onProgress: (p: Progress) => void, signal: AbortSignal): Promise<Verdict> {
  const head = await get<LedgerHead>('/api/ledger/head', { signal });
  let at = from;
  let found: number | null = noted === from.head_hash ? from.seq : null;
  const verdict = (bad: Bad | null): Verdict => ({ at, goal: head.seq, since: from.seq, head: at.head_hash, bad, ...(noted && { noted: found }) });
  while (at.seq < head.seq) {
    onProgress({ at, goal: head.seq });
    const { atoms } = await get<Atoms>(`/api/atoms${query({ from: at.seq + 1, limit: Math.min(page, head.seq - at.seq) })}`, { signal });
    const checked = await verifyAtoms(at, atoms as unknown as Json[]);
    const i = atoms.findIndex((atom) => atom.prev_hash === noted);
    if (i >= 0) found = at.seq + i;
    at = checked.at;
    if (at.head_hash === noted) found = at.seq;
    if (checked.bad) return verdict(checked.bad);
    if (atoms.length === 0) break;
  }
  return verdict(verifyEnd(at, head));
}

// Found is what a check found: a broken chain, a noted head that the chain doesn't have, a chain that
// holds by itself, or one that also comes by what was noted before, here or by a person. Behind the
// head of an empty ledger anything can come.
export type Found = 'broken' | 'another' | 'alone' | 'unchanged';

export function foundIn({ bad, noted, since }: Verdict): Found {
  if (bad) return 'broken';
  if (noted === null) return 'another';
  return noted || since ? 'unchanged' : 'alone';
}

export const titles: Record<Found, string> = {
  broken: 'The ledger is not whole',
  another: 'The head that you noted is not in this chain',
  alone: 'The chain holds',
  unchanged: 'Unchanged since the head that was noted',
};

// holds tells whether the chain holds as far as it was checked.
export const holds = (found: Found) => found === 'alone' || found === 'unchanged';

// shown says what a chain that holds shows and what it doesn't, as `ubl verify` does.
export const shown: Record<'alone' | 'unchanged', string> = {
  alone:
    'Nothing between the first atom and the last was changed, moved or left out. This alone doesn’t show that the ledger ends here, or that it wasn’t written anew as a whole: note the head, and give it with a later check.',
  unchanged: 'What was there then is there unchanged, and what was added since is chained to it. This doesn’t show that the ledger ends here.',
};

const key = (tenant: string) => `ubl.verified.${tenant}`;

// remembered is how far this device has checked a ledger.
export function remembered(tenant: string): Mark | null {
  try {
    return JSON.parse(localStorage.getItem(key(tenant)) ?? 'null') as Mark | null;
  } catch {
    return null;
  }
}

export const remember = (at: Mark) => localStorage.setItem(key(at.tenant_id), JSON.stringify(at));
