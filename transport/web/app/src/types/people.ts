import type { Mandate } from './agents';

// Role is what somebody is in the tenant, a workspace or a room; only rooms have moderators.
export type Role = 'owner' | 'moderator' | 'member';

export interface Identity {
  user_id: string;
  email: string | null;
  email_domain: string;
  groups: string[];
  is_service: boolean;
  unproven?: boolean;
}

export interface Whoami {
  identity: Identity;
  tenant_id: string;
  name?: string; // of the member
  role: Role;
  operator?: true; // they run the platform
  expires_at: string | null;
  mandate?: Mandate; // of an agent
  agreement_id?: string; // that mandate's
}

export interface Member {
  user_id: string;
  name?: string;
  alike?: true;
  email?: string;
  role: Role;
  is_service?: boolean;
  // Nobody has verified that the address is theirs.
  unproven?: boolean;
  invited_by?: string; // a user id
  since: string;
  agents?: string[]; // in the answer to a removal: the agents that left with them
}

// Presence is that somebody is there, until then.
export interface Presence {
  user_id: string;
  until: string;
}

// Former is somebody who has left the tenant.
export interface Former {
  user_id: string;
  name?: string;
  alike?: true;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  created_by: string;
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
  revoked_at: string | null;
}

// A mail domain of the tenant, or a claim of one.
export interface Domain {
  domain: string;
  tenant_id: string;
  // unconfirmed: verified, but the owner who stands for it is none any more.
  state: 'configured' | 'verified' | 'unconfirmed' | 'pending';
  // What to publish in DNS; null where the server's operator gave the domain.
  record: { type: 'TXT'; name: string; value: string } | null;
  claimed_by: string | null;
  claimed_at: string | null;
  expires_at: string | null;
  verified_at: string | null;
}

// A room or container that nobody is left in.
export interface SealedPlace {
  agreement_id: string;
  type: string;
  id: string;
  name: string;
  sealed_at: string;
}

export interface Tenant {
  tenant_id: string;
  type: 'platform' | 'customer';
  created_at: string;
  defaults: { room_mode: 'internal'; retention_days: number; max_message_bytes: number };
}

// PlatformToken is a session of a browser, or a token that "ubl token" made.
export interface PlatformToken {
  jti: string;
  kind: 'session' | 'token';
  label: string;
  method: 'link' | 'passkey' | 'oidc' | 'invitation' | null;
  created_at: string;
  expires_at: string;
  current: boolean;
}

export interface Passkey {
  id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
}

export interface Ways {
  passkeys: boolean;
  oidc: { id: string; name: string }[];
  signed_in: boolean;
}

// ConfirmWays are how who is signed in may prove once more that it is them.
export interface ConfirmWays {
  fresh: boolean; // they needn't
  passkey: boolean;
  oidc: { id: string; name: string }[];
  link: boolean; // that the server prints
}
