// When a message is sent later, as people choose it and as the server keeps it.

import { clock, day } from '../../time';
import { t } from '../../words';

// Repeat is how a message recurs; other is a rule that was made elsewhere, which stays as it is.
export type Repeat = 'once' | 'daily' | 'weekdays' | 'weekly' | 'other';

export const repeats: readonly Repeat[] = ['once', 'daily', 'weekdays', 'weekly'];

const rules: Record<Exclude<Repeat, 'other'>, string> = {
  once: '',
  daily: 'FREQ=DAILY',
  weekdays: 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR',
  weekly: 'FREQ=WEEKLY',
};

export const ruleOf = (repeat: Repeat, was = '') => (repeat === 'other' ? was : rules[repeat]);

export const repeatOf = (rule = ''): Repeat => repeats.find((repeat) => ruleOf(repeat) === rule) ?? 'other';

// zone is that of this device; the server has its clocks change with the seasons.
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

// local is a time by the clock here, as fields for times have it: "2026-01-31T09:00".
export function local(time: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

// said is "Tomorrow, 9:00 AM": the day as the timeline says it, and the clock.
export function said(time: string, now = new Date()): string {
  const next = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  const then = new Date(time);
  const tomorrow = then.getFullYear() === next.getFullYear() && then.getMonth() === next.getMonth() && then.getDate() === next.getDate();
  return t('scheduled.at', { day: tomorrow ? t('remind.tomorrow') : day(time, now), time: clock(time) });
}

// repeated is how it recurs, in words; '' for once.
export const repeated = (rule?: string) => (rule ? t(`scheduled.repeat.${repeatOf(rule)}`) : '');
