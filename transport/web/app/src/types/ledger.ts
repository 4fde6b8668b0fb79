export interface Receipt {
  ledger_shard: '0';
  seq: number;
  cid: string;
  head_hash: string;
  time?: string | null;
}

// ImportedFrom is where an owner has imported something from: an act in another ledger or a source, and
// who did it there first. It is the importer's word.
export interface ImportedFrom {
  tenant_id: string;
  seq?: number;
  cid?: string;
  source?: ImportedSource;
  author_id: string;
  author_name?: string;
  at: string;
}

// ImportedSource is what another product's export has, where there is no ledger.
export interface ImportedSource {
  product: 'slack' | 'mattermost' | 'matrix';
  id: string;
  member_id?: string;
  edited_at?: string;
}

// An atom is kept as it came: its cid is the hash of all its members, known or not.
export interface Action {
  kind: 'action.v1' | 'action.v2';
  tenant_id: string;
  cid: string;
  prev_hash: string;
  when: string;
  who: Record<string, unknown>;
  did: string;
  this: Record<string, unknown>;
  agreement_id: string;
  status: 'executed' | 'intended' | 'denied';
  trace: Record<string, unknown>;
}

export interface Effect {
  kind: 'effect.v1' | 'effect.v2';
  tenant_id: string;
  cid: string;
  prev_hash: string;
  ref_action_cid: string;
  when: string;
  outcome: 'ok' | 'error';
  effects: Record<string, unknown>[];
  pointers: Record<string, unknown>;
  error?: unknown;
}

export type Atom = Action | Effect;

export const isAction = (atom: Atom): atom is Action => atom.kind === 'action.v1' || atom.kind === 'action.v2';

export interface Atoms {
  from: number;
  atoms: Atom[];
  next_cursor: number | null;
  head: { seq: number; head_hash: string };
}

export interface ReceiptLookup {
  seq: number;
  atoms: Atom[];
}

export interface LedgerHead {
  tenant_id: string;
  ledger_shard: '0';
  seq: number;
  head_hash: string;
}
