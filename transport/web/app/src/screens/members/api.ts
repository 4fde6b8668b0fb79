// api.ts asks the server about the members of the tenant.

import { at, get, patch } from '../../api';
import type { Container, Member } from '../../types';

export const members = (signal: AbortSignal) => get<{ members: Member[] }>('/api/tenant/members', { signal });

// rename gives a member a name, or takes it away with an empty one. One may rename
// oneself, and owners everybody.
export const rename = (user_id: string, name: string) => patch<{ member: Member }>(at`/api/tenant/members/${user_id}`, { name });

// inside is a container with its members.
export async function inside(id: string, signal: AbortSignal): Promise<{ container: Container; members: Member[] }> {
  const [{ container }, { members }] = await Promise.all([
    get<{ container: Container }>(at`/api/containers/${id}`, { signal }),
    get<{ members: Member[] }>(at`/api/containers/${id}/members`, { signal }),
  ]);
  return { container, members };
}
