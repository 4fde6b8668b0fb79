// drafts.ts keeps what is written on a document and not saved: in this page for whoever
// looks something up in between, and after a pause in the browser, for the next time.

import { personID } from '../../api';
import { person } from '../../session';
import { opened } from '../../store';
import type { Store } from '../../store/sync';

export interface Draft {
  title: string;
  content: string;
  known: number; // the version that it was begun on, 0 for a new document
}

// pause is how long a draft may change before the browser keeps it, in ms.
const pause = 400;

const drafts = new Map<string, Draft>();
let timer: ReturnType<typeof setTimeout> | undefined;

const place = (w: string, d: string) => `${person.value}/${w}/${d}`;
const name = (w: string, d: string) => `${w}/${d}`;

// draftOf is a draft of this page.
export const draftOf = (w: string, d: string) => drafts.get(place(w, d));

// keptOf is what the browser has kept.
export const keptOf = async (w: string, d: string): Promise<Draft | undefined> => (await opened()).unsaved.of(name(w, d));

export function forget(w: string, d: string) {
  drafts.delete(place(w, d));
  later(0, (store) => store.unsaved.forget(name(w, d)));
}

export function keep(w: string, d: string, { title, content, known }: Draft) {
  drafts.set(place(w, d), { title, content, known });
  later(pause, (store) => store.unsaved.keep({ name: name(w, d), title, content, known }));
}

// later takes the place of what was to be written and isn't yet: one document is written
// at a time. Nothing is written for who has come instead meanwhile.
function later(wait: number, write: (store: Store) => Promise<void>) {
  clearTimeout(timer);
  const who = person.value;
  const mine = setTimeout(async () => {
    const store = await opened();
    if (personID(store.who) === who) await write(store);
    if (timer === mine) timer = undefined;
  }, wait);
  timer = mine;
}

// warn is for beforeunload: closing the page would lose what was written last.
export function warn(e: BeforeUnloadEvent) {
  if (timer !== undefined) e.preventDefault();
}
