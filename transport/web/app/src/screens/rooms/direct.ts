// Direct messages: opening those with some people, and hiding them from the list.

import { at, newKey, post } from '../../api';
import { go } from '../../router';
import { store } from '../../store';
import type { RoomSummary } from '../../types';

// most is how many others direct messages can be with.
export const most = 8;

// openDirect opens the messages with these people, which are there once for each set of them,
// and goes there.
export async function openDirect(people: readonly string[]): Promise<void> {
  const { room } = await post<{ room: RoomSummary }>('/api/dms', { with: people }, { key: newKey() });
  await store.value?.refresh();
  go(`/ui/rooms/${room.room_id}`);
}

// hide takes direct messages off one's own list, until the next one comes.
export async function hide(roomId: string): Promise<void> {
  await post(at`/api/rooms/${roomId}/leave`);
  await store.value?.refresh();
}
