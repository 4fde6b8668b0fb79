import type { Confirm } from './agents';
import type { Receipt } from './ledger';

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
  confirm?: Confirm; // absent asks nobody
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

// ToolResult is what a tool answered. What foreign ones say is data, and no words of ours.
export interface ToolResult {
  content: Record<string, unknown>[] | null;
  structured_content?: unknown;
  is_error: boolean;
  receipt: Receipt;
}

export interface Budget {
  tokens_per_day: number;
  requests_per_minute: number;
  used_today: number;
}

// PortalEvent is what GET /api/portal/logs/live streams.
export interface PortalEvent {
  event: 'portal.call';
  tenant_id: string;
  ts: string;
  payload: Call;
}
