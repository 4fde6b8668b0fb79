// What the screens of servers ask of the server.

import { at, del, get, newKey, patch, post, put, query } from '../../api';
import type { Server, Tool, ToolAccess } from '../../types';
import type { Asks } from '../agents/mandate';

// own is the id under which this server's tools stand.
export const own = 'ubl';

// slug makes an id of a name: "Acme Tickets" is "acme-tickets".
export const slug = (name: string) =>
  name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 32);

// well tells what the server takes for an id.
export const well = /^[a-z0-9][a-z0-9-]{0,31}$/;

export const servers = (signal?: AbortSignal) => get<{ servers: Server[]; commands: string[] }>('/api/portal/servers', { signal });

// slow is how long a request may take for which another server is asked, in ms.
const slow = 120_000;

export const sync = (id: string) => post<{ server: Server }>(at`/api/portal/servers/${id}/sync`, {}, { timeout: slow });

export const change = (id: string, now: { name?: string; url?: string; disabled?: boolean; secret?: string }) =>
  patch<{ server: Server }>(at`/api/portal/servers/${id}`, now, { timeout: slow });

export const remove = (id: string) => del<{ server: Server }>(at`/api/portal/servers/${id}`, { timeout: slow });

export const connect = (id: string) => post<{ url: string }>(at`/api/portal/servers/${id}/connect`, null, { timeout: slow });

export const disconnect = (id: string) => del<{ server: Server }>(at`/api/portal/servers/${id}/connect`, { timeout: slow });

export interface NewServer {
  server_id: string;
  name: string;
  url?: string;
  kind?: 'stdio';
  command?: string;
  auth: Server['auth'];
  header?: string;
  secret?: string;
  token_url?: string;
  authorize_url?: string;
  client_id?: string;
  scopes?: string[];
}

export const add = (server: NewServer, key: string) => post<{ server: Server }>('/api/portal/servers', server, { key, timeout: slow });

export interface Offered {
  name: string;
  title?: string;
  description: string;
  version: string;
  url: string;
  headers: string[];
}

export const discover = (registry_url: string) => post<{ servers: Offered[] }>('/api/portal/discover', { registry_url }, { timeout: slow });

// tools are all tools there are, or those of one server, by name. Only owners may ask.
export async function tools(server?: string, signal?: AbortSignal): Promise<Tool[]> {
  const all: Tool[] = [];
  let cursor: string | null | undefined;
  do {
    const page: { tools: Tool[]; next_cursor: string | null } = await get(`/api/portal/tools${query({ cursor, limit: 100 })}`, { signal });
    all.push(...page.tools);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all.filter((t) => !server || t.server_id === server);
}

export type Rule = Pick<ToolAccess, 'allowed' | 'users' | 'groups' | 'per_minute'> & { confirm?: Asks };

export const allow = (tool: string, rule: Rule) => put<{ access: ToolAccess }>(at`/api/portal/tools/${tool}/access`, rule, { key: newKey() });

export const approve = (tool: string, hash: string) => post<{ tool: Tool }>(at`/api/portal/tools/${tool}/approve`, { hash });

// ruleOf is who may use a tool. Without a record one of ours is open to all members,
// another's to nobody.
export const ruleOf = ({ access, server_id }: Tool): Rule => access ?? { allowed: server_id === own, users: [], groups: [], per_minute: 0 };
