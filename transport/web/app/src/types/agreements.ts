import type { Mandate } from './agents';
import type { Receipt } from './ledger';
import type { Member, Role } from './people';

export interface Physics {
  fungibility: 'strict' | 'versioned' | 'transient';
  topology: 'values' | 'objects' | 'subjects' | 'links';
  permeability: 'sealed' | 'gated' | 'collaborative' | 'open' | 'public';
  execution: 'disabled' | 'sandboxed' | 'full';
}

export interface Agreement {
  id: string;
  type: string;
  tenant_id: string;
  created_at: string;
  created_by: string;
  status: 'in_force' | 'ended';
  ended_at?: string;
  physics?: Physics;
  terms: Terms;
  // The step of the history that brought the terms; absent for the usual ones.
  amended?: number;
  mandate?: Mandate; // of an agent
  proposal?: Proposal;
  hash: string;
  members: Member[];
  history?: AgreementChange[];
}

// What an Agreement permits, to whom and for how long, and what its parties owe.
export interface Terms {
  form: 'terms.v1';
  permits: Permit[];
  limits?: Limit[];
  from?: string;
  until?: string;
  obligations?: string[];
  accept: 'proposer' | 'owners' | 'entries';
}

export interface Permit {
  did: string; // an act, or the beginning of several: messenger.*
  to: string[]; // owners, entries, tenant, anyone, a user id, or group:NAME
}

export interface Limit {
  did: string;
  per_minute?: number;
  together?: boolean;
  bytes?: number;
}

// Other terms, which wait for those who have to accept them.
export interface Proposal {
  terms: Terms;
  terms_hash: string;
  by: string;
  at: string;
  entry_id?: string; // that tells of it in the room
  accepted: string[];
  waiting?: string[];
}

export interface AgreementChange {
  n: number;
  did: string;
  at: string;
  by: string;
  user_id?: string;
  role?: Role;
  // Of the Agreement after the step; absent for one from before that was kept.
  hash?: string;
  receipt: Receipt;
}
