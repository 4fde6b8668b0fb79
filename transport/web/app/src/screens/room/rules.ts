// The rules by which people come into a room.

import type { RoomPolicy } from '../../types';

export const joinRules: readonly { value: RoomPolicy['join']; label: string }[] = [
  { value: 'invite', label: 'By invitation' },
  { value: 'tenant', label: 'Every member' },
];
