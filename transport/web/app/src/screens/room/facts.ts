// What the store doesn't keep of a room: how many are in it, and its policy.

import { useRef } from 'preact/hooks';
import { at, get } from '../../api';
import type { RoomView } from '../../store/rooms';
import type { Store } from '../../store/sync';
import type { Member, Room } from '../../types';
import { useLoad } from '../../ui/useLoad';
import { hoursOf } from './span';

export interface Facts {
  members: number;
  people: readonly string[]; // their ids, without agents'
  limit: number; // of a message, in bytes
  keeps: number; // for how many hours messages are kept, 0 for ever
}

// known is what was read last of rooms that were shown, so that nothing moves when one comes back.
const known = new Map<string, Facts>();

// useFacts reads them again when the platform has written into the room, as it does
// when somebody joins, when messages are kept for another time, and when the network is back.
export function useFacts(store: Store, room: RoomView): Facts | undefined {
  const told = useRef(0);
  if (room.last_message?.type === 'system') told.current = room.last_seq;
  const live = store.connection.value === 'live';
  const { data } = useLoad(
    async (signal): Promise<Facts> => {
      const [{ members }, own] = await Promise.all([
        get<{ members: Member[] }>(at`/api/rooms/${room.room_id}/members`, { signal }),
        get<{ room: Room }>(at`/api/rooms/${room.room_id}`, { signal }),
      ]);
      const people = members.filter(({ is_service }) => !is_service).map(({ user_id }) => user_id);
      const facts = { members: members.length, people, limit: own.room.policy.max_message_bytes, keeps: hoursOf(own.room.policy) };
      store.keeps(room.room_id, facts.keeps);
      known.set(room.room_id, facts);
      return facts;
    },
    [room.room_id, told.current, live, room.keeps],
  );
  return data ?? known.get(room.room_id);
}
