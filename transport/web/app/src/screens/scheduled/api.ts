// Messages that are sent later. They are one's own alone until then.

import { at, del, get, newKey, patch, post } from '../../api';
import type { Scheduled } from '../../types';

// Plan is when a message is sent: the clock's time in a zone, and how it recurs.
export interface Plan {
  at: string;
  zone: string;
  rule: string;
}

export interface NewScheduled {
  room_id: string;
  text: string;
  mentions?: string[];
  reply_to?: string;
  thread?: string;
}

export const scheduled = (signal?: AbortSignal) => get<{ scheduled: Scheduled[] }>('/api/me/scheduled', { signal });

export const schedule = (message: NewScheduled, plan: Plan, key = newKey()) => post<Scheduled>('/api/me/scheduled', { ...message, ...plan }, { key });

export const change = ({ scheduled_id }: Scheduled, to: Partial<Plan> & { text?: string }) => patch<Scheduled>(at`/api/me/scheduled/${scheduled_id}`, to, { key: newKey() });

export const cancel = ({ scheduled_id }: Scheduled) => del<Scheduled>(at`/api/me/scheduled/${scheduled_id}`, { key: newKey() });

