// What the screens of wallets ask of the server. A wallet is a container of values.

import { at, get, post } from '../../api';
import { bare } from '../../text';
import type { Container, Receipt } from '../../types';

// wallets are those that one may look into, with what they hold.
export async function wallets(signal: AbortSignal): Promise<Container[]> {
  const { containers } = await get<{ containers: Container[] }>('/api/containers', { signal });
  const held = containers.filter(({ physics }) => physics.topology === 'values');
  return Promise.all(held.map(async (one) => ({ ...(await get<{ container: Container }>(at`/api/containers/${one.container_id}`, { signal })).container, name: nameOf(one) })));
}

// nameOf has the address beside a name that looks like another's.
export const nameOf = ({ name, alike, container_id }: Container) => (alike ? `${name} (${bare(container_id)})` : name);

export const make = (name: string, key: string) => post<{ container: Container }>('/api/containers', { kind: 'wallet', name }, { key });

export const issue = (id: string, amount: number, key: string) => post<{ balance: number; receipt: Receipt }>(at`/api/containers/${id}/credits`, { amount }, { key });

export const send = (id: string, to: string, amount: number, key: string) => post<{ receipt: Receipt }>(at`/api/containers/${id}/transfer`, { to, amount }, { key });

// most is the most credits that one act moves.
export const most = 2 ** 50;

// amountOf is a whole number of credits, undefined for anything else.
export function amountOf(text: string, upTo: number): number | undefined {
  const digits = text.trim();
  if (!/^(\d+|\d{1,3}([\s,._’]\d{3})+)$/.test(digits)) return undefined; // 2.50 is no number of credits
  const n = Number(digits.replace(/\D/g, ''));
  return n >= 1 && n <= upTo ? n : undefined;
}
