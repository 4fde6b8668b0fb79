// The tools of other servers that one may call now, asked for where commands are written.

import { get, query } from '../../api';
import type { Store } from '../../store/sync';
import type { Server, Tool } from '../../types';

export interface Usable {
  tool: Tool;
  server: string; // what the organisation calls its server
}

// life is how long an answer is used, in ms: an owner may close a tool at any time, and the server
// refuses the call then.
const life = 60_000;

let kept: { of: Store; at: number; tools: Promise<Usable[]> } | undefined;

// usable are those of the person who is signed in. What failed is asked for again.
export function usable(of: Store): Promise<Usable[]> {
  if (kept?.of === of && Date.now() - kept.at < life) return kept.tools;
  const tools = read();
  const now = { of, at: Date.now(), tools };
  kept = now;
  tools.catch(() => kept === now && (kept = undefined));
  return tools;
}

async function read(): Promise<Usable[]> {
  const all: Tool[] = [];
  let cursor: string | null = null;
  do {
    const page: { tools: Tool[]; next_cursor: string | null } = await get(`/api/portal/tools${query({ usable: true, cursor, limit: 100 })}`, { quiet: true });
    all.push(...page.tools);
    cursor = page.next_cursor;
  } while (cursor !== null);
  if (all.length === 0) return [];
  const { servers } = await get<{ servers: Server[] }>('/api/portal/servers', { quiet: true });
  const names = new Map(servers.map(({ server_id, name }) => [server_id, name]));
  return all.map((tool) => ({ tool, server: names.get(tool.server_id) ?? tool.server_id }));
}
