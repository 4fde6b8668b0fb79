// Times as people read them, in their own language and zone. The server sends
// "2026-01-31T12:00:00.000Z".

import { each } from './words/format';

const formats = each((locale) => ({
  clock: new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }),
  weekday: new Intl.DateTimeFormat(locale, { weekday: 'short' }),
  day: new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' }),
  date: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }),
  dated: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' }),
  full: new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' }),
}));
const relative = each((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));

// clock is "14:05".
export const clock = (time: string) => formats().clock.format(new Date(time));

// hours is "2:05", where it is plain which half of the day is meant.
export const hours = (time: string) => clock(time).replace(/[^\p{N}:.]/gu, '');

// full is the whole of it, to the second.
export const full = (time: string) => formats().full.format(new Date(time));

// date is "31 Jan 2026", for expiries and the like.
export const date = (time: string) => formats().dated.format(new Date(time));

// end is when something ends: "14:05" today, "tomorrow, 14:05", "31 Jan 2026".
export function end(time: string, now = new Date()): string {
  const then = new Date(time);
  const ahead = daysBetween(now, then);
  if (ahead === 0) return formats().clock.format(then);
  return ahead === 1 ? `${relative().format(1, 'day')}, ${formats().clock.format(then)}` : formats().dated.format(then);
}

// ago is how long ago something was, within a sentence: "5 minutes ago", "yesterday",
// "3 months ago".
export function ago(time: string, now = new Date()): string {
  const then = new Date(time);
  const minutes = Math.max(0, Math.floor((now.getTime() - then.getTime()) / 60_000));
  const days = daysBetween(then, now);
  if (minutes < 60) return relative().format(-minutes, 'minute');
  if (days === 0) return relative().format(-Math.floor(minutes / 60), 'hour');
  if (days < 60) return relative().format(-days, 'day');
  return days < 700 ? relative().format(-Math.floor(days / 30), 'month') : relative().format(-Math.floor(days / 365), 'year');
}

// day is what separates messages: "Today", "Yesterday", "Monday 3 March", "3 Mar 2024".
export function day(time: string, now = new Date()): string {
  const then = new Date(time);
  const ago = daysBetween(then, now);
  if (ago === 0 || ago === 1) return capital(relative().format(-ago, 'day'));
  return (then.getFullYear() === now.getFullYear() ? formats().day : formats().dated).format(then);
}

// brief is for lists: "14:05" today, "Mon" this week, "3 Mar" this year, "3 Mar 2024".
export function brief(time: string, now = new Date()): string {
  const then = new Date(time);
  const ago = daysBetween(then, now);
  if (ago === 0) return formats().clock.format(then);
  if (ago > 0 && ago < 7) return formats().weekday.format(then);
  return (then.getFullYear() === now.getFullYear() ? formats().date : formats().dated).format(then);
}

// sameDay tells whether two times fall on one day here.
export const sameDay = (a: string, b: string) => daysBetween(new Date(a), new Date(b)) === 0;

// daysBetween counts midnights, not hours.
function daysBetween(then: Date, now: Date): number {
  const midnight = (d: Date) => Date.UTC(d.getFullYear(), d.getMonth(), d.getDate());
  return (midnight(now) - midnight(then)) / 86_400_000;
}

const capital = (text: string) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
