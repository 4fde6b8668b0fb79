// The link to a message: /ui/rooms/r:general?at=12.

import { useEffect } from 'preact/hooks';
import { place } from '../../router';
import type { Message } from '../../types';
import type { Talk } from '../room/talk';

// linkTo is where a message opens by itself.
export const linkTo = ({ room_id, room_seq }: Pick<Message, 'room_id' | 'room_seq'>) => `/ui/rooms/${room_id}?at=${room_seq}`;

// linked is the room_seq of the message that the address names, 0 for none.
export function linked(): number {
  const at = Number(place.value.query.get('at'));
  return Number.isSafeInteger(at) && at > 0 ? at : 0;
}

// useJump brings that message into view, and the next that is chosen while the room is open.
export function useJump(talk: Talk): void {
  const at = linked();
  useEffect(() => {
    if (at > 0) void talk.goTo(at);
  }, [talk, at]);
}
