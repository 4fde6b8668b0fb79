// Who is there: a page that is looked at says each minute that its person is, and reads who else
// is. Nobody says that they have gone: they may be at another device, and it is over by itself.

import { effect, signal } from '@preact/signals';
import { get, post } from './api';
import { store } from './store';
import type { Presence } from './types';

const every = 60_000; // in ms; the server believes it for two and a half minutes

// present are those who are there, by user id: nobody while there is no line.
const present = signal<ReadonlySet<string>>(new Set());

export const isPresent = (id: string) => present.value.has(id);

async function look(): Promise<void> {
  await post('/api/me/presence', { present: true });
  const { present: all } = await get<{ present: Presence[] }>('/api/tenant/presence?limit=500');
  present.value = new Set(all.map((one) => one.user_id));
}

export function follow(): void {
  effect(() => {
    if (store.value?.connection.value !== 'live') {
      present.value = new Set();
      return;
    }
    const again = () => {
      if (!document.hidden) look().catch(() => undefined); // the next minute asks again
    };
    again();
    const timer = setInterval(again, every);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  });
}
