// The shapes of what the server answers and streams, after schemas/*.json. Ids,
// hashes and times are strings: "r:general", "c:<64 hex>", "2026-01-31T12:00:00.000Z".

export type Role = 'owner' | 'member';

// Answered is beside the body in every answer under /api.
export interface Answered {
  request_id: string;
  server_time: string;
}

export interface Receipt {
  ledger_shard: '0';
  seq: number;
  cid: string;
  head_hash: string;
  time?: string | null;
}

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
  expires_at: string | null;
  mandate?: Mandate; // of an agent
  agreement_id?: string; // that mandate's
}

// ImportedFrom is where an owner has imported something from: an act in another ledger, and
// who did it there first. It is the importer's word.
export interface ImportedFrom {
  tenant_id: string;
  seq: number;
  cid: string;
  author_id: string;
  author_name?: string;
  at: string;
}

export interface Message {
  msg_id: string;
  tenant_id: string;
  room_id: string;
  room_seq: number;
  sender_id: string;
  sent_at: string;
  // "entry" is the app's own, for other entries of the timeline (store/entries.ts).
  type: 'text' | 'system' | 'entry';
  body: { text: string; mentions?: string[] };
  reply_to: string | null;
  thread?: string; // the msg_id of the message that began the thread
  attachments: unknown[];
  imported_from?: ImportedFrom;
  receipt: Receipt;
}

// Entry is anything in a room's timeline. Its body is null once it is redacted.
export interface Entry {
  kind: 'entry.v2';
  entry_id: string;
  tenant_id: string;
  room_id: string;
  room_seq: number;
  author_id: string;
  sent_at: string;
  type: string; // message, edit, reaction, redaction, pin, membership, proposal, and what later servers have
  target?: string; // the entry_id of what it is about
  reply_to?: string;
  thread?: string;
  body: { content_type: string; json?: Record<string, unknown>; bytes?: string } | null;
  salt?: string;
  redacted?: { at: string; by: string; room_seq: number };
  imported_from?: ImportedFrom;
  receipt: Receipt;
}

export interface EntryAnswer {
  entry: Entry;
}

export interface RoomSummary {
  room_id: string;
  name: string;
  mode: 'internal';
  created_at: string;
  // The room can be read, and nothing more.
  status?: 'ended';
}

// RoomEntry is a room in the list; a room that one may join but is no member of has
// neither last_seq nor last_message, as one that can't be read (details_error).
export interface RoomEntry extends RoomSummary {
  member: boolean;
  alike?: true;
  // How far the person has read it, on whichever device.
  read?: { read_seq: number; unread: number; mentions: number };
  last_seq?: number;
  last_message?: Message | null;
  // How many of the entries up to last_seq are messages; absent where the server doesn't say.
  messages?: number;
  details_error?: { code: string; message: string };
}

export interface RoomPolicy {
  max_message_bytes: number;
  retention_days: number;
  join: 'invite' | 'tenant';
}

export interface Room extends RoomSummary {
  tenant_id: string;
  policy: RoomPolicy;
  // Who owns the room once its last owner is gone.
  heir?: string;
  last_seq: number;
  available_from: number;
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

// Former is somebody who has left the tenant.
export interface Former {
  user_id: string;
  name?: string;
  alike?: true;
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

export interface Container {
  container_id: string;
  kind: string;
  name: string;
  physics: Physics;
  created_at: string;
  // Who owns it once its last owner is gone. Lists don't say.
  heir?: string;
}

// Document is one version; content is there where one document was asked for.
export interface Document {
  document_id: string;
  workspace_id: string;
  tenant_id: string;
  title: string;
  content?: string;
  content_hash: string;
  bytes: number;
  version: number;
  created_at: string;
  created_by: string;
  updated_at: string;
  updated_by: string;
  deleted?: boolean;
  imported_from?: ImportedFrom; // of this version
  receipt: Receipt;
}

export interface DocumentHit extends Document {
  score: number;
  snippet: string;
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  cost_micros: number;
  provider: string;
  model: string;
  cached: boolean;
  estimated?: boolean;
}

// Call is a row of the portal's log.
export interface Call {
  n: number;
  at: string;
  did: string;
  server: string;
  capability: string;
  user_id: string;
  is_service: boolean;
  status: 'intended' | 'ok' | 'error' | 'denied';
  code?: string;
  duration_ms: number;
  request_id: string;
  parent?: string;
  usage?: Usage;
  receipt?: Receipt;
}

export interface Server {
  server_id: string;
  name: string;
  url: string;
  kind?: 'openapi' | 'stdio'; // an HTTP API, a program that nodes run; none for a server of MCP over HTTP
  command?: string; // the operator's name of a program
  document_url?: string; // of an API
  auth: 'none' | 'header' | 'client_credentials' | 'authorization_code' | 'environment';
  header?: string;
  token_url?: string;
  authorize_url?: string;
  client_id?: string;
  scopes?: string[];
  disabled: boolean;
  connected?: boolean; // whether one has signed in; missing where nobody does
  status: 'new' | 'up' | 'down' | 'disabled';
  problem?: string;
  synced_at: string | null; // when that was put on record
  down_since?: string;
  next_try?: string;
  connecting?: boolean;
  tools: number;
  held: number;
  created_at: string;
  created_by: string;
  receipt: Receipt;
}

export interface ToolAccess {
  agreement_id: string;
  tool: string;
  allowed: boolean;
  users: string[];
  groups: string[];
  per_minute: number;
  updated_at: string;
  updated_by: string;
  receipt: Receipt;
}

export interface Tool {
  tool: string;
  server_id: string;
  upstream: string;
  definition: Record<string, unknown> | null;
  hash: string;
  held?: Record<string, unknown>;
  held_hash?: string;
  gone?: boolean;
  access: ToolAccess | null;
}

export interface Budget {
  tokens_per_day: number;
  requests_per_minute: number;
  used_today: number;
}

export interface ServiceToken {
  client_id: string;
  name: string;
  user_id: string;
  created_at: string;
  created_by: string;
  kept_by?: string;
  ends_with?: string[]; // whose leaving ends it, or has ended it
  expires_at: string | null;
  revoked_at: string | null;
  mandate?: Mandate; // absent for one that is a member as others are
  client?: string; // the OAuth client that it was connected by
  resource?: string;
}

// What an agent may do, and no further: empty lists bound nothing.
export interface Mandate {
  sets: string[];
  tools: string[];
  read_only: boolean;
  places: string[];
  per_minute: number;
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

// RoomEvent is what GET /api/events streams; the event's id is its cursor.
export type RoomEvent = { tenant_id: string; room_id: string; ts: string } & (
  | { event: 'message.created'; payload: { message: Message } }
  | { event: 'entry.created'; payload: { entry: Entry } }
  | { event: 'room.created'; payload: RoomSummary }
  | { event: 'room.member_joined'; payload: { user_id: string; role?: Role | null } }
  | { event: 'room.left'; payload: { user_id: string } } // oneself
  | { event: 'room.gap'; payload: { from_seq: number; available_from: number } }
);

// PortalEvent is what GET /api/portal/logs/live streams.
export interface PortalEvent {
  event: 'portal.call';
  tenant_id: string;
  ts: string;
  payload: Call;
}

// ErrorCode is the server's table of error codes, and "offline" for no answer at all.
export type ErrorCode =
  | 'validation_error'
  | 'unauthorized'
  | 'forbidden'
  | 'not_a_member'
  | 'origin_not_allowed'
  | 'confirmation_required'
  | 'not_found'
  | 'unknown_tool'
  | 'method_not_allowed'
  | 'conflict'
  | 'idempotency_conflict'
  | 'precondition_failed'
  | 'cancelled'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal'
  | 'overloaded'
  | 'unavailable'
  | 'quota_exceeded'
  | 'offline';
