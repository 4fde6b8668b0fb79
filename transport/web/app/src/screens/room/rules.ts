// The rules by which people come into a room, and write there.

import type { RoomPolicy } from '../../types';
import { t } from '../../words';

export const joinRules = (): readonly { value: RoomPolicy['join']; label: string }[] => [
  { value: 'invite', label: t('newroom.invite') },
  { value: 'tenant', label: t('newroom.tenant') },
];

// Posting is who writes messages; records leave out that everybody does.
export type Posting = 'everyone' | NonNullable<RoomPolicy['posting']>;

export const postingRules = (): readonly { value: Posting; label: string }[] => [
  { value: 'everyone', label: t('policy.posting.everyone') },
  { value: 'threads', label: t('policy.posting.threads') },
  { value: 'moderators', label: t('policy.posting.moderators') },
];
