/// <reference path="./words.d.ts" />

// Every text that people read is in a catalogue beside this file, one a language, by a
// key: "rooms.title". What the first load needs of English is in it, the rest comes with the
// first screen that is fetched (more), and the others are fetched when they are wanted. A component that calls t is drawn again
// when the language changes.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import first from 'words:en';
import type keys from './en.json';
import { format, type Compiled } from './format';
import { languages, localise, type Language } from './locale';

export type Key = keyof typeof keys;
type Catalogue = Readonly<Record<string, Compiled>>;

const others: Record<Exclude<Language, 'en'>, () => Promise<{ default: Catalogue }>> = {
  de: () => import('words:de'),
  es: () => import('words:es'),
  ar: () => import('words:ar'),
};

let english: Catalogue = first;
const texts = signal<Catalogue>(english);
let rest: Promise<void> | undefined;

// more has all texts there, which screens need that aren't in the first load.
export function more(): Promise<void> {
  rest ??= import('words:more').then(
    (m) => {
      english = { ...first, ...m.default };
      if (language.peek() === 'en') texts.value = english;
    },
    (problem: unknown) => {
      rest = undefined; // it is tried again
      throw problem;
    },
  );
  return rest;
}

// language is the one that is shown.
export const language = signal<Language>('en');
let wanted: Language = 'en';

// t is a text, with values in its places.
export function t(key: Key, values?: Readonly<Record<string, string | number>>): string {
  return format(texts.value[key] ?? english[key]!, values).join('');
}

// rich is a text with elements in its places.
export function rich(key: Key, values: Readonly<Record<string, ComponentChildren>>): ComponentChildren[] {
  return format(texts.value[key] ?? english[key]!, values);
}

// speak changes the language, once its texts are there; without a network they may not be,
// and what was shown stays.
export async function speak(next: Language): Promise<void> {
  wanted = next;
  const found = next === 'en' ? english : await others[next]().then((m) => m.default, () => null);
  if (!found || wanted !== next) return; // another was chosen meanwhile
  localise(next);
  texts.value = found;
  language.value = next;
  document.documentElement.lang = next;
  document.documentElement.dir = languages[next].dir;
}
