// Which parts of the list are folded, on this device.

import { signal } from '@preact/signals';

const name = 'ubl.folded';

export const folded = signal<ReadonlySet<string>>(new Set((localStorage.getItem(name) ?? '').split(' ').filter(Boolean)));

export function fold(id: string): void {
  const next = new Set(folded.value);
  if (!next.delete(id)) next.add(id);
  folded.value = next;
  if (next.size > 0) localStorage.setItem(name, [...next].join(' '));
  else localStorage.removeItem(name);
}
