// What one wants of one's rooms: which are favourites, and which are mute. The server has it for
// all devices; what was read last is kept here.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { at, get, patch } from '../api';
import { store } from '../store';
import type { Store } from '../store/sync';
import type { Reached, RoomPreference } from '../types';
import { language } from '../words';

// preferred are the rooms of which something is wanted, by id.
export const preferred = signal<ReadonlyMap<string, RoomPreference>>(new Map());

// known tells that these are what one wants, as far as that can be had: a list in another order
// would jump under the finger.
export const known = signal(false);

// of is whose they are.
let of: Store | null = null;

// patience is how long the list waits for that, in ms.
const patience = 1000;

export const isFavourite = (id: string) => preferred.value.get(id)?.favourite ?? false;

// isMuted tells that nothing of a room reaches one now.
export const isMuted = (id: string) => (preferred.value.get(id)?.muted_until ?? '') > new Date().toISOString();

export const reached = (signal?: AbortSignal) => get<Reached>('/api/me/notifications', { signal });

// take takes over what the server has answered.
export function take(answer: Reached): Reached {
  preferred.value = new Map((answer.preferences.rooms ?? []).map((room) => [room.room_id, room]));
  return answer;
}

// tellLanguage tells a server that sends mails the language of this app, where it knows none. From
// then on one is mailed as is usual.
function tellLanguage({ mail, preferences }: Reached): void {
  if (mail && !preferences.language) void patch('/api/me/notifications', { language: language.peek() }).catch(() => undefined);
}

// useMine has what was read last at once. It asks when there is a line, when another device has
// changed it, and when one comes back to this tab: only one tab hears what other devices do.
export function useMine(now: Store | null): void {
  const live = now?.connection.value === 'live';
  const changes = now?.person.value ?? 0;
  useEffect(() => {
    if (of !== now) {
      of = now;
      preferred.value = new Map();
      known.value = false;
    }
    if (!now || known.peek()) return;
    const begin = (answer?: Reached) => {
      if (of !== now || known.peek()) return;
      if (answer) take(answer);
      known.value = true;
    };
    void now.shelf.kept<Reached>('mine').then((answer) => answer && begin(answer));
    const timer = setTimeout(begin, patience);
    return () => clearTimeout(timer);
  }, [now]);
  useEffect(() => {
    if (!now) return;
    const read = () =>
      now.shelf
        .read('mine', () => reached())
        .then(({ value }) => of === now && tellLanguage(take(value)), () => undefined)
        .then(() => of === now && (known.value = true));
    void read();
    const back = () => document.visibilityState === 'visible' && void read();
    document.addEventListener('visibilitychange', back);
    return () => document.removeEventListener('visibilitychange', back);
  }, [now, live, changes]);
}

export interface RoomChange {
  level?: RoomPreference['level'] | '';
  mute_s?: number;
  favourite?: boolean;
}

// forever is how long a room is muted for that one mutes without an end: a year, in seconds.
export const forever = 365 * 24 * 3600;

// setRoom changes what is wanted of a room, on all devices.
export async function setRoom(id: string, change: RoomChange): Promise<void> {
  const answer = await patch<RoomPreference>(at`/api/me/rooms/${id}`, change);
  preferred.value = new Map(preferred.peek()).set(id, answer);
  await store.peek()?.shelf.read('mine', () => reached()).then(({ value }) => take(value), () => undefined);
}
