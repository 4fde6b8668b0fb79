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
  head: string;
}

// verify checks from a mark on. A head that a person noted earlier is looked for on
// the way: where it turns up, everything before it is what it was then.
export async function verify(from: Mark, noted: string, onProgress: (p: Progress) => void, signal: AbortSignal): Promise<Verdict> {
  const head = await get<LedgerHead>('/api/ledger/head', { signal });
  let at = from;
  let found: number | null = noted === from.head_hash ? from.seq : null;
  const verdict = (bad: Bad | null): Verdict => ({ at, goal: head.seq, head: at.head_hash, bad, ...(noted && { noted: found }) });
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

// Worst is the worst that a check found: a broken chain, a noted head that the chain
// doesn't have, or nothing.
export type Worst = 'broken' | 'another' | 'whole';

export const worstOf = ({ bad, noted }: Verdict): Worst => (bad ? 'broken' : noted === null ? 'another' : 'whole');

export const titles: Record<Worst, string> = {
  broken: 'The ledger is not whole',
  another: 'The head that you noted is not in this chain',
  whole: 'Whole and unchanged',
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
