// The link to a message: /ui/rooms/r:general?at=12, and for one in a thread
// /ui/rooms/r:general/thread/m:1?at=12.

import { useEffect } from 'preact/hooks';
import { place } from '../../router';
import type { Message } from '../../types';

// linkTo is where a message opens by itself.
export const linkTo = ({ room_id, room_seq, thread }: Pick<Message, 'room_id' | 'room_seq' | 'thread'>) => `/ui/rooms/${room_id}${thread ? `/thread/${thread}` : ''}?at=${room_seq}`;

// linked is the room_seq of the message that the address names, in that thread or in none; 0 for
// no message.
export function linked(thread?: string): number {
  const { path, query } = place.value;
  const at = Number(query.get('at'));
  const here = path.split('/thread/')[1] === thread;
  return here && Number.isSafeInteger(at) && at > 0 ? at : 0;
}

// useJump brings that message into view, and the next that is chosen while the room is open.
export function useJump(talk: { thread?: string; goTo(seq: number): Promise<void> }): void {
  const at = linked(talk.thread);
  useEffect(() => {
    if (at > 0) void talk.goTo(at);
  }, [talk, at]);
}
