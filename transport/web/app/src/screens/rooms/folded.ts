// Which parts of the list are folded, on this device. Archived rooms are, until one unfolds them.

import { signal } from '@preact/signals';

const name = 'ubl.folded';

// folded are the parts that aren't as they are at first.
export const folded = signal<ReadonlySet<string>>(new Set((localStorage.getItem(name) ?? '').split(' ').filter(Boolean)));

export const isFolded = (id: string) => folded.value.has(id) !== (id === 'archived');

export function fold(id: string): void {
  const next = new Set(folded.value);
  if (!next.delete(id)) next.add(id);
  folded.value = next;
  if (next.size > 0) localStorage.setItem(name, [...next].join(' '));
  else localStorage.removeItem(name);
}
