// The order in which rooms stand in the list, and so that in which keys go through them.

import { isFavourite } from './notify/mine';
import type { RoomView } from './store/rooms';

// isDirect tells rooms that are messages between a few: their id is made of who they are.
export const isDirect = ({ room_id }: Pick<RoomView, 'room_id'>) => /^r:dm-[0-9a-f]{40}$/.test(room_id);

// isArchived tells rooms that can be read, and nothing more.
export const isArchived = ({ status }: Pick<RoomView, 'status'>) => status === 'ended';

// parts are the rooms of the list, under what heading they stand: empty parts are left out.
export function parts(mine: readonly RoomView[], others: readonly RoomView[], favourite: (id: string) => boolean = isFavourite) {
  const open = mine.filter((room) => !isArchived(room));
  const rest = open.filter((room) => !favourite(room.room_id));
  const all = [
    { id: 'favourites', rooms: open.filter((room) => favourite(room.room_id)) },
    { id: 'direct', rooms: rest.filter(isDirect) },
    { id: 'rooms', rooms: rest.filter((room) => !isDirect(room)) },
    { id: 'archived', rooms: mine.filter(isArchived) },
    { id: 'joinable', rooms: others },
  ] as const;
  return all.filter(({ rooms }) => rooms.length > 0);
}

// inOrder are all rooms that one is in, as the list has them.
export const inOrder = (mine: readonly RoomView[]) => parts(mine, []).flatMap(({ rooms }) => rooms);
