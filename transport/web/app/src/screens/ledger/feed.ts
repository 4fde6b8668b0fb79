// feed.ts reads the ledger backwards from its head, and goes on reading what is added. It
// asks for the head again and again, though only while the page is seen: the stream tells
// of messages and rooms, and most acts are neither.

import { signal } from '@preact/signals';
import { get, query } from '../../api';
import { isAction, type Action, type Atom, type Atoms, type LedgerHead } from '../../types';

// Placed is an atom with its place. action is the one that it is or belongs to,
// null for an effect whose action wasn't read yet.
export interface Placed {
  seq: number;
  atom: Atom;
  action: Action | null;
}

const page = 200; // atoms that are asked for at once
const far = 5000; // atoms
const rest = 2000; // ms between two looks for new ones, while somebody watches

export class Feed {
  // atoms are the newest first, without a gap.
  readonly atoms = signal<readonly Placed[]>([]);
  readonly head = signal(0);
  readonly problem = signal<unknown>(null);
  readonly ready = signal(false);
  private readonly actions = new Map<string, Action>();
  private busy = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly end = new AbortController();

  start() {
    document.addEventListener('visibilitychange', this.look);
    void this.look();
  }

  stop() {
    this.end.abort();
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.look);
  }

  // again looks at once, where something had failed.
  again = () => this.look();

  // atGenesis tells that nothing is before what was read.
  get atGenesis(): boolean {
    return this.ready.value && (this.atoms.value.at(-1)?.seq ?? 1) === 1;
  }

  // older reads the page before the oldest atom that is there.
  async older() {
    const first = this.atoms.value.at(-1)?.seq ?? 1;
    if (first > 1) await this.alone(() => this.read(Math.max(1, first - page), Math.min(page, first - 1)));
  }

  // look reads what is new, once in rest while the page is seen.
  private look = async () => {
    clearTimeout(this.timer);
    if (document.hidden) return;
    await this.alone(() => (this.ready.value ? this.newer() : this.first()));
    if (!this.end.signal.aborted) this.timer = setTimeout(this.look, rest);
  };

  private async first() {
    const { seq } = await get<LedgerHead>('/api/ledger/head', { signal: this.end.signal });
    this.head.value = 0;
    if (seq > 0) await this.read(Math.max(1, seq - page + 1), Math.min(page, seq));
    this.ready.value = true;
  }

  // newer starts over where too much has come to be worth reading, or where the ledger
  // isn't the one that it was.
  private async newer() {
    const { seq } = await get<LedgerHead>('/api/ledger/head', { signal: this.end.signal });
    if (seq < this.head.value || seq > this.head.value + far) {
      this.atoms.value = [];
      return this.first();
    }
    while (this.head.value < seq) await this.read(this.head.value + 1, page);
  }

  // read puts a page where it belongs: before all others, or behind them.
  private async read(from: number, limit: number) {
    const { atoms } = await get<Atoms>(`/api/atoms${query({ from, limit })}`, { signal: this.end.signal });
    for (const atom of atoms) if (isAction(atom)) this.actions.set(atom.cid, atom);
    const placed = atoms.map((atom, i) => ({ seq: from + i, atom, action: this.actionOf(atom) })).reverse();
    const known = this.atoms.value;
    if (from > (known[0]?.seq ?? 0)) {
      this.atoms.value = [...placed, ...known];
      this.head.value = from + atoms.length - 1;
    } else {
      // Effects at the old end may find their actions now.
      this.atoms.value = [...known.map((p) => (p.action ? p : { ...p, action: this.actionOf(p.atom) })), ...placed];
    }
  }

  private actionOf = (atom: Atom) => (isAction(atom) ? atom : (this.actions.get(atom.ref_action_cid) ?? null));

  // alone does one thing at a time, and keeps what went wrong.
  private async alone(work: () => Promise<unknown>) {
    if (this.busy) return;
    this.busy = true;
    try {
      await work();
      this.problem.value = null;
    } catch (problem) {
      if (!this.end.signal.aborted) this.problem.value = problem;
    } finally {
      this.busy = false;
    }
  }
}
