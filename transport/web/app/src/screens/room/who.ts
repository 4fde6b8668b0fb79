// Whom a message is from. What is read here in a component follows the list of
// people, so that an id becomes a name as soon as that has come.

import { me } from '../../session';
import { store } from '../../store';
import type { Message } from '../../types';
import { nameFor } from '../Person';
import { entryIn } from '../../store/entries';
import { wordsOfEntry } from './acted';

export interface Who {
  id: string;
  name: string;
  agent: boolean;
  unproven: boolean;
  left: boolean; // the tenant
  mine: boolean;
}

export function whoIs(id: string): Who {
  const known = store.value?.people.byId.value.get(id);
  return { id, name: nameFor(id), agent: known?.is_service ?? false, unproven: known?.unproven ?? false, left: known?.left ?? false, mine: me.value?.identity.user_id === id };
}

// wordsOf is a message's text, or what an entry tells. What the platform writes has ids
// where people expect names.
export function wordsOf(row: Message): string {
  const { type, body } = row;
  const entry = entryIn(row);
  if (entry) return wordsOfEntry(entry, (id) => whoIs(id));
  if (type !== 'system') return body.text;
  return body.text.replace(/\bu:[A-Za-z0-9._-]+/g, (id) => whoIs(id).name);
}
