// What the store doesn't keep of a room: how many are in it, its policy, and what one is in it.

import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { at, get } from '../../api';
import type { Shown } from '../../store/messages';
import type { RoomView } from '../../store/rooms';
import { membersOf } from '../../store/shelf';
import type { Store } from '../../store/sync';
import type { Member, Role, Room, RoomPolicy } from '../../types';
import { useLoad } from '../../ui/useLoad';
import { hoursOf } from './span';
import { isLine } from './group';

export interface Facts {
  members: number;
  people: readonly string[]; // their ids, without agents'
  keepers: readonly string[]; // the ids of owners and moderators, without agents'
  limit: number; // of a message, in bytes
  keeps: number; // for how many hours messages are kept, 0 for ever
  posting?: RoomPolicy['posting'];
  role?: Role; // one's own
}

// Inside is a room and who is in it.
export interface Inside {
  room: Room;
  members: Member[];
}

const known = signal<ReadonlyMap<string, Facts>>(new Map());

// factsOf is what was read last of a room, so that nothing moves when it is shown again.
export const factsOf = (roomId: string): Facts | undefined => known.value.get(roomId);

export async function readInside(roomId: string, signal?: AbortSignal): Promise<Inside> {
  const [{ room }, { members }] = await Promise.all([
    get<{ room: Room }>(at`/api/rooms/${roomId}`, { signal }),
    get<{ members: Member[] }>(at`/api/rooms/${roomId}/members`, { signal }),
  ]);
  return { room, members };
}

// learn takes over what was read of a room.
export function learn({ room, members }: Inside, me: string): void {
  const people = members.filter(({ is_service }) => !is_service);
  const ids = (of: readonly Member[]) => of.map(({ user_id }) => user_id);
  known.value = new Map(known.peek()).set(room.room_id, {
    members: members.length, people: ids(people), keepers: ids(people.filter(({ role }) => role !== 'member')),
    limit: room.policy.max_message_bytes, keeps: hoursOf(room.policy), posting: room.policy.posting, role: members.find(({ user_id }) => user_id === me)?.role,
  });
}

// useFacts reads them again when a line in the room tells of who is in it, when a message was
// refused, and when the network is back. Without one it takes what the members' screen has kept.
export function useFacts(store: Store, room: RoomView, window: Shown): Facts | undefined {
  const { room_id: id } = room;
  const live = store.connection.value === 'live';
  const refused = store.outbox.entries.value.filter((entry) => entry.room_id === id && entry.error?.code === 'forbidden').length;
  useLoad(
    async (signal) => {
      const kept = (problem: unknown) => store.shelf.kept<Inside>(membersOf(id)).then((inside) => inside ?? Promise.reject(problem));
      const inside = await readInside(id, signal).catch(kept);
      learn(inside, store.who.user_id);
      store.keeps(id, hoursOf(inside.room.policy));
    },
    [id, useTold(window), live, refused, room.keeps],
  );
  return factsOf(id);
}

// useTold is the number of the newest line that has come since the room was opened, 0 for none.
function useTold(window: Shown): number {
  const first = useRef(-1);
  const told = useRef(0);
  const newest = window.items.value.findLast(isLine)?.message?.room_seq ?? 0;
  if (window.ready.value && first.current < 0) first.current = newest;
  if (first.current >= 0 && newest > Math.max(first.current, told.current)) told.current = newest;
  return told.current;
}
