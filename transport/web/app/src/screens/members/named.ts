// named.ts reads the members of the tenant, agents with the names that their tokens
// have: records of members have none.

import { get } from '../../api';
import { isOwner } from '../../session';
import { nameOf, short } from '../../text';
import type { Member, ServiceToken } from '../../types';

export type Named = Member & { agent?: string };

// named asks for tokens only where the caller may see them.
export async function named(signal: AbortSignal): Promise<{ members: Named[] }> {
  const [{ members }, { service_tokens }] = await Promise.all([
    get<{ members: Member[] }>('/api/tenant/members', { signal }),
    isOwner.peek() ? get<{ service_tokens: ServiceToken[] }>('/api/service-tokens', { signal }) : { service_tokens: [] },
  ]);
  const names = new Map(service_tokens.map((t) => [t.user_id, t.name]));
  return { members: members.map((m) => ({ ...m, agent: names.get(m.user_id) })) };
}

// called is what to call them; ids of agents are long.
export const called = (m: Pick<Named, 'user_id' | 'email' | 'agent'>) => m.agent ?? (m.email ? nameOf(m) : short(nameOf(m)));
