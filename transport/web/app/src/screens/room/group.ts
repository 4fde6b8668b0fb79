// How rows follow one another: which begin a day, and which belong together.

import { me } from '../../session';
import { isDeleted } from '../../store/entries';
import type { Item } from '../../store/rows';
import { sameDay } from '../../time';
import type { ImportedFrom } from '../../types';

// together is how far apart messages of one person may be and still be one group, in ms.
const together = 5 * 60_000;

export interface Place {
  // day is a time of the day that begins here, "" where none does.
  day: string;
  first: boolean; // of a group
  last: boolean;
}

export const timeOf = (item: Item) => item.message?.sent_at ?? new Date(item.outgoing!.created_at).toISOString();

export const senderOf = (item: Item) => item.message?.sender_id ?? me.value?.identity.user_id ?? '';

// threadIn is the thread of a row: that of the message which began one is none.
const threadIn = (item: Item) => (item.message ?? item.outgoing)?.thread;

// isLine tells what is shown as a line from messages of somebody.
export const isLine = ({ message }: Item) => message !== null && message.type !== 'text' && !isDeleted(message);

// placeOf is the place of a row among its neighbours. A line drawn at the room_seq
// divider parts groups too.
export function placeOf(items: readonly Item[], i: number, divider: number): Place {
  const [before, item, after] = [items[i - 1], items[i]!, items[i + 1]];
  const newDay = !before || !sameDay(timeOf(before), timeOf(item));
  return {
    day: newDay ? timeOf(item) : '',
    first: !before || !joined(before, item, divider),
    last: !after || !joined(item, after, divider),
  };
}

function joined(a: Item, b: Item, divider: number): boolean {
  return (
    !isLine(a) && !isLine(b) && b.message?.room_seq !== divider && senderOf(a) === senderOf(b) && threadIn(a) === threadIn(b) &&
    near(timeOf(a), timeOf(b)) && wereJoined(a.message?.imported_from, b.message?.imported_from)
  );
}

const near = (from: string, to: string) => Date.parse(to) - Date.parse(from) < together && sameDay(from, to);

// wereJoined tells the same of where two were imported from: the name and the time that stand above
// the first are those of the second.
function wereJoined(a?: ImportedFrom, b?: ImportedFrom): boolean {
  if (!a || !b) return !a && !b;
  return a.tenant_id === b.tenant_id && a.author_id === b.author_id && a.author_name === b.author_name && near(a.at, b.at) && a.at <= b.at;
}
