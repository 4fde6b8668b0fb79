// What the palette offers for what one has typed.

import { query } from '../../api';
import { offered, type Chord } from '../../commands';
import { inOrder, isArchived } from '../../order';
import { go } from '../../router';
import { store } from '../../store';
import type { RoomView } from '../../store/rooms';
import { nameOf } from '../../text';
import type { Document } from '../../types';
import type { IconName } from '../../ui/Icon';
import { t, type Key } from '../../words';
import { best } from './fuzzy';

export interface Item {
  id: string;
  name: string;
  note?: string;
  icon?: IconName; // a face where there is none
  chord?: Chord;
  run: () => void;
}

export interface Group {
  title: Key;
  items: Item[];
}

// few are shown of each kind; before one has typed anything, rooms and commands alone.
const few = 6;

export function find(word: string, documents: readonly Document[]): Group[] {
  const now = store.value;
  const mine = inOrder(now?.rooms.mine.value ?? []);
  const groups: Group[] = [
    { title: 'palette.rooms', items: best(roomsOf(mine, now?.rooms.others.value ?? []), word, (i) => i.name, few) },
    { title: 'palette.people', items: word.trim() === '' ? [] : best(peopleOf(), word, (i) => `${i.name} ${i.note ?? ''}`, few) },
    { title: 'palette.documents', items: word.trim() === '' ? [] : best(documents.map(documentItem), word, (i) => i.name, few) },
    { title: 'palette.commands', items: best(commandItems(), word, (i) => i.name, word.trim() === '' ? Infinity : few) },
  ];
  if (word.trim() !== '') groups.push({ title: 'palette.search', items: [searchItem(word.trim())] });
  return groups.filter(({ items }) => items.length > 0);
}

function* roomsOf(mine: readonly RoomView[], others: readonly { room_id: string; name: string }[]): Iterable<Item> {
  const item = ({ room_id, name }: { room_id: string; name: string }, note?: string): Item => ({ id: room_id, name: name || t('rooms.direct'), note, run: () => go(`/ui/rooms/${room_id}`) });
  for (const room of mine) yield item(room, isArchived(room) ? t('palette.archived') : undefined);
  for (const room of others) yield item(room, t('palette.join'));
}

function* peopleOf(): Iterable<Item> {
  for (const person of store.value?.people.byId.value.values() ?? []) {
    if (!person.left) yield { id: person.user_id, name: nameOf(person), note: person.email, icon: person.is_service ? 'tool' : undefined, run: () => go(`/ui/members?who=${encodeURIComponent(person.user_id)}`) };
  }
}

const searchItem = (word: string): Item => ({ id: 'search', name: t('palette.search.for', { word }), icon: 'search', run: () => go(`/ui/search${query({ q: word })}`) });

const documentItem = (d: Document): Item => ({ id: d.document_id, name: d.title, icon: 'document', run: () => go(`/ui/workspaces/${d.workspace_id}/${d.document_id}`) });

const commandItems = (): Item[] => offered().map(({ label, icon, chord, run }) => ({ id: label, name: t(label), icon, chord, run }));
