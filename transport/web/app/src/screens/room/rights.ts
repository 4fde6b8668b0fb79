// What one may do with the messages of a room, by what is known of it. The server decides, and
// refuses what this doesn't know of.

import type { Role, RoomPolicy, RoomSummary } from '../../types';

export interface Rights {
  write: boolean; // messages in no thread
  answer: boolean; // in threads
  act: boolean; // react, edit, pin and vote
  remove: boolean; // what others wrote
}

// Known is what decides: posting and role are missing until the room was asked.
export type Known = Pick<RoomSummary, 'status'> & Pick<RoomPolicy, 'posting'> & { role?: Role };

export function rightsOf({ status, posting, role }: Known): Rights {
  const remove = role === 'owner' || role === 'moderator';
  const act = status !== 'ended';
  const write = act && (!posting || !role || remove);
  return { write, answer: write || (act && posting === 'threads'), act, remove };
}
