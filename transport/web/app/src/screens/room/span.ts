// How long a room keeps its messages, in words.

import type { RoomPolicy } from '../../types';
import { t } from '../../words';

// hoursOf is for how many hours messages are kept, 0 for ever.
export const hoursOf = ({ retention_days, retention_hours = 0 }: Pick<RoomPolicy, 'retention_days' | 'retention_hours'>): number => retention_days * 24 + retention_hours;

// spanOf says so many hours as people do: "8 hours", "1 day 12 hours".
export function spanOf(hours: number): string {
  const [days, rest] = [Math.floor(hours / 24), hours % 24];
  return [days > 0 && t('talk.days', { n: days }), rest > 0 && t('talk.hours', { n: rest })].filter(Boolean).join(' ');
}
