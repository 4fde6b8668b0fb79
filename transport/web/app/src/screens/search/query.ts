// What one looks for, and within what: as the screen has it, its address, and the server.

import { query } from '../../api';

export type Sort = 'relevance' | 'newest' | 'oldest';
export const sorts: readonly Sort[] = ['relevance', 'newest', 'oldest'];

export type Has = 'file' | 'link' | 'reaction';
export const kinds: readonly Has[] = ['file', 'link', 'reaction'];

// Wanted is '' where nothing is said.
export interface Wanted {
  words: string;
  from: string; // a user id
  in: string; // a room id
  has: Has | '';
  after: string; // a day: 2026-01-31
  before: string;
  sort: Sort;
}

// read is what an address asks for. What it can't mean counts as not said.
export function read(q: URLSearchParams): Wanted {
  const of = <T extends string>(name: string, all: readonly T[], usual: T | '') => all.find((one) => one === q.get(name)) ?? usual;
  const day = (name: string) => (/^\d{4}-\d{2}-\d{2}$/.test(q.get(name) ?? '') ? q.get(name)! : '');
  return { words: q.get('q') ?? '', from: q.get('from') ?? '', in: q.get('in') ?? '', has: of('has', kinds, ''), after: day('after'), before: day('before'), sort: of('sort', sorts, 'relevance') as Sort };
}

// addressOf is where a search is, so that one comes back to it.
export const addressOf = ({ words, sort, ...rest }: Wanted) => `/ui/search${query({ q: words.trim(), ...rest, sort: sort === 'relevance' ? '' : sort })}`;

// isEmpty tells that nothing is looked for yet.
export const isEmpty = (w: Wanted) => [w.words.trim(), w.from, w.in, w.has, w.after, w.before].every((said) => said === '');

// askedOf is the server's question.
export function askedOf(w: Wanted, cursor: string | null): string {
  const narrow = [w.has && `has:${w.has}`, w.after && `after:${w.after}`, w.before && `before:${w.before}`];
  const text = [w.words.trim(), ...narrow].filter(Boolean).join(' ');
  return '/api/search' + query({ query: text, in: w.in, from: w.from, sort: w.sort, cursor });
}

// Part is a piece of a snippet.
export interface Part {
  text: string;
  hit: boolean;
}

// partsOf cuts a snippet at its highlights, which count characters and not units of UTF-16.
export function partsOf(snippet: string, highlights: readonly { start: number; end: number }[]): Part[] {
  const all = [...snippet];
  const parts: Part[] = [];
  let at = 0;
  const add = (to: number, hit: boolean) => {
    if (to > at) parts.push({ text: all.slice(at, to).join(''), hit });
    at = Math.max(at, to);
  };
  for (const { start, end } of [...highlights].sort((a, b) => a.start - b.start)) {
    add(Math.min(start, all.length), false);
    add(Math.min(end, all.length), true);
  }
  add(all.length, false);
  return parts;
}
