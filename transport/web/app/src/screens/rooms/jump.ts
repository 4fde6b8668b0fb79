import { useEffect } from 'preact/hooks';
import { place } from '../../router';
import type { Talk } from '../room/talk';

// useJump brings the message into view that the address names: /ui/rooms/r:general?at=12.
export function useJump(talk: Talk): void {
  const at = Number(place.value.query.get('at'));
  useEffect(() => {
    if (Number.isSafeInteger(at) && at > 0) void talk.goTo(at);
  }, [talk, at]);
}
