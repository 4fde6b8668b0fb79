// Reads messages as words.mjs has compiled them.

import { locale } from './locale';

const plurals = each((tag) => new Intl.PluralRules(tag));
export const numbers = each((tag) => new Intl.NumberFormat(tag));

type Case = readonly Part[];
export type Part = string | 0 | readonly [name: string, kind?: 'n' | 'p' | 's', cases?: Readonly<Record<string, Case>>];
export type Compiled = string | Case;

// format is a message with values in its places: texts as they are, numbers as the locale
// writes them, and anything else (an element) between the texts.
export function format<V>(message: Compiled, values: Readonly<Record<string, V>> = {}): (string | V)[] {
  if (typeof message === 'string') return [message];
  const out: (string | V)[] = [];
  write(message, values, out, 0);
  return out;
}

function write<V>(parts: Case, values: Readonly<Record<string, V>>, out: (string | V)[], n: number) {
  for (const part of parts) {
    if (typeof part === 'string') out.push(part);
    else if (part === 0) out.push(numbers().format(n));
    else {
      const [name, kind, cases] = part;
      const value = values[name];
      if (kind === undefined) out.push(typeof value === 'number' ? numbers().format(value) : value!);
      else if (kind === 'n') out.push(numbers().format(Number(value)));
      else {
        const key = kind === 'p' ? pluralOf(Number(value), cases!) : String(value);
        write(cases![key] ?? cases!.other!, values, out, kind === 'p' ? Number(value) : n);
      }
    }
  }
}

// pluralOf is "=0" for exactly that, else what the language calls the number.
function pluralOf(n: number, cases: object): string {
  return `=${n}` in cases ? `=${n}` : plurals().select(n);
}

// each makes something once for the locale: the makers of Intl take long.
export function each<T>(make: (tag: string | undefined) => T): () => T {
  let of: { tag: string | undefined; made: T } | undefined;
  return () => {
    const tag = locale();
    if (!of || of.tag !== tag) of = { tag, made: make(tag) };
    return of.made;
  };
}
