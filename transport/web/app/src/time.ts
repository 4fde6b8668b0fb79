// Times as people read them, in their own language and zone. The server sends
// "2026-01-31T12:00:00.000Z".

const formats = {
  clock: new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' }),
  weekday: new Intl.DateTimeFormat(undefined, { weekday: 'short' }),
  day: new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' }),
  date: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
  dated: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' }),
  full: new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' }),
};
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

// clock is "14:05".
export const clock = (time: string) => formats.clock.format(new Date(time));

// full is the whole of it, to the second.
export const full = (time: string) => formats.full.format(new Date(time));

// date is "31 Jan 2026", for expiries and the like.
export const date = (time: string) => formats.dated.format(new Date(time));

// end is when something ends: "14:05" today, "tomorrow, 14:05", "31 Jan 2026".
export function end(time: string, now = new Date()): string {
  const then = new Date(time);
  const ahead = daysBetween(now, then);
  if (ahead === 0) return formats.clock.format(then);
  return ahead === 1 ? `${relative.format(1, 'day')}, ${formats.clock.format(then)}` : formats.dated.format(then);
}

// ago is when something was, within a sentence: "at 14:05", "on 31 Jan 2026".
export const ago = (time: string, now = new Date()) => (daysBetween(new Date(time), now) === 0 ? `at ${clock(time)}` : `on ${date(time)}`);

// day is what separates messages: "Today", "Yesterday", "Monday 3 March", "3 Mar 2024".
export function day(time: string, now = new Date()): string {
  const then = new Date(time);
  const ago = daysBetween(then, now);
  if (ago === 0 || ago === 1) return capital(relative.format(-ago, 'day'));
  return (then.getFullYear() === now.getFullYear() ? formats.day : formats.dated).format(then);
}

// brief is for lists: "14:05" today, "Mon" this week, "3 Mar" this year, "3 Mar 2024".
export function brief(time: string, now = new Date()): string {
  const then = new Date(time);
  const ago = daysBetween(then, now);
  if (ago === 0) return formats.clock.format(then);
  if (ago > 0 && ago < 7) return formats.weekday.format(then);
  return (then.getFullYear() === now.getFullYear() ? formats.date : formats.dated).format(then);
}

// sameDay tells whether two times fall on one day here.
export const sameDay = (a: string, b: string) => daysBetween(new Date(a), new Date(b)) === 0;

// daysBetween counts midnights, not hours.
function daysBetween(then: Date, now: Date): number {
  const midnight = (d: Date) => Date.UTC(d.getFullYear(), d.getMonth(), d.getDate());
  return (midnight(now) - midnight(then)) / 86_400_000;
}

const capital = (text: string) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
