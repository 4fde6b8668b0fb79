import { me } from '../../session';
import type { Member } from '../../types';

// Of is what somebody is a member of, and where the server has it.
export interface Of {
  what: 'room' | 'workspace' | 'wallet';
  name: string;
  url: string;
  // closed is where nothing changes any more.
  closed?: boolean;
}

// myself is one's own entry, undefined where one is not in it.
export const myself = (members: readonly Member[]) => members.find((member) => member.user_id === me.value?.identity.user_id);
