// What the store doesn't keep of a room: how many are in it, and its policy.

import { useRef } from 'preact/hooks';
import { at, get } from '../../api';
import type { RoomView } from '../../store/rooms';
import type { Store } from '../../store/sync';
import type { Member, Room } from '../../types';
import { useLoad } from '../../ui/useLoad';

export interface Facts {
  members: number;
  limit: number; // of a message, in bytes
}

// useFacts reads them again when the platform has written into the room, as it does
// when somebody joins, and when the network is back.
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
      return { members: members.length, limit: own.room.policy.max_message_bytes };
    },
    [room.room_id, told.current, live],
  );
  return data;
}
