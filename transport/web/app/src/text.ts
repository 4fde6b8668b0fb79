// Names, numbers and pieces of text as the screens show them. What people wrote is
// always put on the page as text, in an element with dir="auto".

import { each, numbers } from './words/format';

// nameOf is what to call somebody: their name, else the local part of their address,
// else their id, in short. Where that looks like another's the id stands behind it.
export function nameOf(who: { user_id: string; name?: string; alike?: true; email?: string | null }): string {
  const id = short(bare(who.user_id));
  const name = who.name || (who.email ? who.email.slice(0, who.email.lastIndexOf('@')) : '');
  return who.alike && name ? `${name} (${id})` : name || id;
}

// bare is an id without its prefix: "general" of "r:general".
export const bare = (id: string) => id.replace(/^[a-z]:/, '');

// initials are one or two letters for an avatar. An id in brackets, by which namesakes are
// told apart, is no word of the name.
export function initials(name: string): string {
  const words = name.split(/[\s._@-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const letters = words.slice(0, 2).map((word) => [...word][0]);
  return letters.join('').toLocaleUpperCase() || [...name.trim()][0] || '?';
}

// tint is one of eight colours, always the same for the same id.
export function tint(id: string): number {
  let hash = 7;
  for (let i = 0; i < id.length; i++) hash = (hash * 31 + id.charCodeAt(i)) | 0;
  return (hash >>> 0) % 8;
}

// short is a hash that one can tell from others at a glance: "c:1f2e3d…9a8b".
export const short = (hash: string) => (hash.length > 18 ? `${hash.slice(0, 8)}…${hash.slice(-4)}` : hash);

// number is "1,204".
export const number = (n: number) => numbers().format(n);

// count is a number with its noun: "1 message", "1,204 messages".
export const count = (n: number, one: string, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

const lists = each((tag) => new Intl.ListFormat(tag));

// listed is "Ana, Bo, and Cy".
export const listed = (names: readonly string[]) => lists().format(names);

// bytes is a size.
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  return n < 1_000_000 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1_000_000).toFixed(1)} MB`;
}

// utf8 is how many bytes a text has on the wire, by which the server limits messages.
export const utf8 = (text: string) => new TextEncoder().encode(text).length;

// oneLine is a text without line breaks, for previews.
export const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

// linked takes the http and https links in a text apart from what is around them.
export function linked(text: string): (string | { href: string })[] {
  const parts: (string | { href: string })[] = [];
  let end = 0;
  for (const found of text.matchAll(/https?:\/\/[^\s<>"]+[^\s<>"'.,;:!?)\]}]/g)) {
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push({ href: found[0] });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}
