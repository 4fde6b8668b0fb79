// The rules by which people come into a room.

import type { RoomPolicy } from '../../types';
import { t } from '../../words';

export const joinRules = (): readonly { value: RoomPolicy['join']; label: string }[] => [
  { value: 'invite', label: t('newroom.invite') },
  { value: 'tenant', label: t('newroom.tenant') },
];
