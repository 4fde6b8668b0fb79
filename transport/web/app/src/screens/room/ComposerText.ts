// What keys do to a text that is being written in Markdown, and what in it is to be
// completed. All of it is pure: Composer has the field.

import type { Named } from '../../store/db';

// Edit replaces from…to of a text, and selects start…end of what there is then.
export interface Edit {
  from: number;
  to: number;
  text: string;
  start: number;
  end: number;
}

export const apply = (text: string, e: Edit): string => text.slice(0, e.from) + e.text + text.slice(e.to);

// wrapped puts marks around what is selected, or takes them away where they are there.
export function wrapped(text: string, start: number, end: number, mark: string): Edit {
  const { length } = mark;
  const chosen = text.slice(start, end);
  if (text.slice(start - length, start) === mark && text.slice(end, end + length) === mark && !(length === 1 && text.slice(start - 2, start) === mark + mark)) {
    return { from: start - length, to: end + length, text: chosen, start: start - length, end: end - length };
  }
  return { from: start, to: end, text: mark + chosen + mark, start: start + length, end: end + length };
}

// prefixed begins each selected line with a prefix, or takes it away where all have it.
export function prefixed(text: string, start: number, end: number, prefix: string): Edit {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const to = text.indexOf('\n', end) < 0 ? text.length : text.indexOf('\n', end);
  const lines = text.slice(from, to).split('\n');
  const all = lines.every((line) => line.startsWith(prefix));
  const now = lines.map((line) => (all ? line.slice(prefix.length) : prefix + line)).join('\n');
  return { from, to, text: now, start: lines.length > 1 ? from : from + now.length, end: from + now.length };
}

const item = /^(\s*)(?:([-+*])|(\d{1,9})([.)]))( +)(\[[ xX]\] +)?/;

// continued breaks the line within a list or a quote, so that the next one begins as this
// one does; an item without words ends the list. Null elsewhere.
export function continued(text: string, caret: number): Edit | null {
  const from = text.lastIndexOf('\n', caret - 1) + 1;
  const line = text.slice(from, caret);
  const found = item.exec(line);
  const quote = /^(?:> ?)+/.exec(line);
  const begin = found?.[0] ?? quote?.[0];
  if (begin === undefined) return null;
  if (line === begin) return { from, to: caret, text: '', start: from, end: from };
  let next = begin;
  if (found) {
    const [, indent, bullet, number, dot, space, box] = found;
    next = `${indent}${bullet ?? `${Number(number) + 1}${dot}`}${space}${box ? '[ ] ' : ''}`;
  }
  const at = caret + 1 + next.length;
  return { from: caret, to: caret, text: `\n${next}`, start: at, end: at };
}

// Wanted is what is being written and may be completed: a name after "@", or a command.
export interface Wanted {
  kind: 'name' | 'command';
  from: number;
  query: string;
}

export function wanted(text: string, caret: number): Wanted | null {
  const before = text.slice(0, caret);
  const command = /^\/([\w.-]*)$/.exec(before);
  if (command) return { kind: 'command', from: 0, query: command[1]! };
  const name = /(?:^|[\s([{"'*_>])@([^\s@](?:[^\n@]{0,39}[^\s@])?)?$/u.exec(before);
  if (!name) return null;
  const query = name[1] ?? '';
  return query.split(' ').length > 3 ? null : { kind: 'name', from: caret - query.length - 1, query };
}

// Person is somebody whom one may mention.
export interface Candidate {
  id: string; // '@room' for everybody
  name: string;
  agent: boolean;
}

// matching are at most n of those whose name has words that begin so, best first.
export function matching(all: readonly Candidate[], query: string, n = 8): Candidate[] {
  const q = fold(query);
  const rank = ({ name }: Candidate) => {
    const folded = fold(name);
    if (folded.startsWith(q)) return 0;
    return folded.split(/[\s._-]+/).some((word) => word.startsWith(q)) ? 1 : 2;
  };
  return all.filter((c) => rank(c) < 2).sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, n);
}

const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase();

// mentioned are the ids of those whom a text names: who was chosen, and @room. A name stands
// by itself: "@Ana" isn't in "@Anabel".
export function mentioned(text: string, chosen: readonly Named[]): string[] {
  const ids = new Set<string>();
  for (const [name, id] of [...chosen, ['room', '@room'] as Named]) {
    for (let at = text.indexOf(`@${name}`); at >= 0; at = text.indexOf(`@${name}`, at + 1)) {
      const before = text[at - 1];
      const after = [...text.slice(at + name.length + 1)][0];
      const alone = (c: string | undefined) => c === undefined || !/[\p{L}\p{N}]/u.test(c);
      if (alone(before) && alone(after)) ids.add(id);
    }
  }
  return [...ids];
}
