// Searching what this device has kept, while the server can't be asked: plain words and who,
// where, when. Their forms, and files, links and reactions, are the server's to find.

import type { Store } from '../../store/sync';
import type { Message, MessageHit } from '../../types';
import type { Wanted } from './query';

const most = 100;
const context = 60; // characters before the first match

// findKept are the newest first, or the oldest where that is asked for.
export async function findKept(store: Store, wanted: Wanted): Promise<MessageHit[]> {
  const words = wordsOf(wanted.words);
  const rooms = store.rooms.mine.peek().filter((room) => !wanted.in || room.room_id === wanted.in);
  const found: MessageHit[] = [];
  for (const room of rooms) {
    for (const m of await store.keptOf(room.room_id)) {
      const at = matches(m, wanted, words);
      if (at) found.push(hitOf(m, room.name, at));
    }
  }
  const later = wanted.sort === 'oldest' ? -1 : 1;
  return found.sort((a, b) => (a.sent_at < b.sent_at ? later : -later)).slice(0, most);
}

// wordsOf are the words of a query, without what narrows it.
export const wordsOf = (text: string) => (text.toLocaleLowerCase().match(/[\p{L}\p{N}]+(?!:)/gu) ?? []);

type Span = { start: number; end: number };

// matches are where a message has the words, null where it isn't meant.
export function matches(m: Message, wanted: Wanted, words: readonly string[]): Span[] | null {
  if (m.type !== 'text' || (wanted.from && m.sender_id !== wanted.from)) return null;
  const day = m.sent_at.slice(0, 10);
  if ((wanted.after && day <= wanted.after) || (wanted.before && day >= wanted.before)) return null;
  const text = [...m.body.text].map((c) => c.toLowerCase().slice(0, c.length)).join('');
  const spans: Span[] = [];
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return null;
    const start = [...text.slice(0, at)].length;
    spans.push({ start, end: start + [...word].length });
  }
  return spans;
}

function hitOf(m: Message, room_name: string, at: readonly Span[]): MessageHit {
  const from = Math.max(0, Math.min(...at.map(({ start }) => start), Infinity) - context);
  const begin = Number.isFinite(from) ? from : 0;
  const snippet = [...m.body.text].slice(begin, begin + 240).join('');
  return {
    author_id: m.sender_id, entry_id: m.msg_id, highlights: at.map(({ start, end }) => ({ start: Math.max(0, start - begin), end: Math.max(0, end - begin) })),
    place: { room_id: m.room_id, room_seq: m.room_seq, from_seq: m.room_seq, to_seq: m.room_seq, ...(m.thread && { thread: m.thread }) }, room_name, sent_at: m.sent_at, snippet,
  };
}
