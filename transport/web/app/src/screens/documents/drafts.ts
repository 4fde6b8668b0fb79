// drafts.ts keeps what is written on a document and not saved, while the app is open:
// whoever looks something up in between finds it again, and nobody else does.

import { person } from '../../session';

export interface Draft {
  title: string;
  content: string;
  known: number; // the version that it was begun on, 0 for a new document
}

const drafts = new Map<string, Draft>();

const place = (w: string, d: string) => `${person.value}/${w}/${d}`;

export const draftOf = (w: string, d: string) => drafts.get(place(w, d));

export const forget = (w: string, d: string) => drafts.delete(place(w, d));

export const keep = (w: string, d: string, draft: Draft) => drafts.set(place(w, d), draft);

// warn is for beforeunload: closing the page would lose what isn't saved.
export function warn(e: BeforeUnloadEvent) {
  if (drafts.size > 0) e.preventDefault();
}
