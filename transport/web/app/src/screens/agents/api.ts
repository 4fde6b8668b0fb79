// What the screens of agents ask of the server.

import { ApiError, at, del, get, post, put } from '../../api';
import { said } from '../../said';
import type { Call, Mandate, ServiceToken } from '../../types';
import { kindOf, unnamed } from './mandate';

export interface Listed {
  tokens: ServiceToken[];
  // calls are the tenant's newest tool calls, as far as one sees them: owners all, others those of
  // agents that they keep. Of these the last of an agent is told. null where the log can't be read.
  calls: Call[] | null;
}

// agents are those that one may see, with the newest calls. Without those the list still stands.
export async function agents(signal: AbortSignal): Promise<Listed> {
  const calls = get<{ calls: Call[] }>('/api/portal/logs?limit=200', { signal }).then(
    (page) => page.calls,
    () => null,
  );
  const { service_tokens } = await get<{ service_tokens: ServiceToken[] }>('/api/service-tokens', { signal });
  return { tokens: service_tokens, calls: await calls };
}

// lastCall is the newest call of an agent among those, undefined where it isn't among them.
export const lastCall = (of: ServiceToken, calls: readonly Call[] | null): Call | undefined => calls?.find((call) => call.user_id === of.user_id);

export const setMandate = (t: ServiceToken, m: Mandate, key: string) => put<{ service_token: ServiceToken }>(at`/api/service-tokens/${t.client_id}/mandate`, m, { key });

export const renew = <T>(t: ServiceToken, new_secret: boolean, key: string) => post<T>(at`/api/service-tokens/${t.client_id}/renew`, new_secret ? { new_secret } : {}, { key });

export const end = (t: ServiceToken) => del(at`/api/service-tokens/${t.client_id}`);

// addTo adds an agent to places, and answers where it couldn't be, and why.
export async function addTo(places: readonly string[], user_id: string): Promise<string[]> {
  const missing: string[] = [];
  for (const id of places) {
    const url = kindOf(id) === 'room' ? at`/api/rooms/${id}` : at`/api/containers/${id}`;
    await post(`${url}/members`, { user_id }).catch((problem: unknown) => {
      if (problem instanceof ApiError && problem.code === 'conflict') return; // it is there already
      missing.push(`${unnamed(id)}: ${said(problem)}`);
    });
  }
  return missing;
}
