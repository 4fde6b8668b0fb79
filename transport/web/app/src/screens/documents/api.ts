// What the screens of documents ask of the server. Every look at a document is an
// act with a receipt, so nothing here is asked twice without need.

import { at, del, get, patch, post, query } from '../../api';
import { bare } from '../../text';
import type { Container, Document, DocumentHit, Receipt } from '../../types';
import { t } from '../../words';

export interface One {
  document: Document | null;
  receipt: Receipt;
}

export interface Page {
  documents: Document[];
  next_cursor: string | null;
}

export interface Hits {
  documents: DocumentHit[];
  // Only there while the server still indexes: documents changed later may be missing.
  indexing?: { complete_up_to: string | null };
  receipt: Receipt;
  some?: boolean; // no document has all of the words, and these have some of them
}

// listWorkspaces are those that one may look into. One whose name looks like another's has its id
// beside it.
export async function listWorkspaces(signal?: AbortSignal): Promise<{ workspaces: Container[] }> {
  const { workspaces } = await get<{ workspaces: Container[] }>('/api/workspaces', { signal });
  return { workspaces: workspaces.map((w) => (w.alike ? { ...w, name: `${w.name} (${bare(w.container_id)})` } : w)) };
}

export const list = (w: string, cursor?: string | null, signal?: AbortSignal): Promise<Page> =>
  get<Page>(at`/api/workspaces/${w}/documents` + query({ cursor, limit: 100 }), { signal });

// find is what has the words: all of them, or any of them in any form.
export const find = (w: string, words: string, match: 'all' | 'any', signal?: AbortSignal): Promise<Hits> =>
  get<Hits>(at`/api/workspaces/${w}/search` + query({ query: words, match, limit: 50 }), { signal });

// mayAsk tells whether words that nothing has all of may be asked as a question. With quotes or an asterisk they
// mean what they say.
export const mayAsk = (words: string) => !/["*]/.test(words);

// findBest is what has all of the words, or else some of them.
export async function findBest(w: string, words: string, signal?: AbortSignal): Promise<Hits> {
  const all = await find(w, words, 'all', signal);
  return all.documents.length > 0 || !mayAsk(words) ? all : { ...(await find(w, words, 'any', signal)), some: true };
}

export const read = (w: string, d: string, version?: number, signal?: AbortSignal): Promise<One> =>
  get<One>(at`/api/workspaces/${w}/documents/${d}` + query({ version }), { signal });

// write makes the next version after the one that the writer knows; where there is a
// newer one by then it fails with the code "conflict".
export const write = (w: string, d: string, known: number, now: { title: string; content: string }, key: string): Promise<One> =>
  patch<One>(at`/api/workspaces/${w}/documents/${d}`, { ...now, if_version: known }, { key });

export const create = (w: string, now: { title: string; content: string }, key: string): Promise<One> =>
  post<One>(at`/api/workspaces/${w}/documents`, now, { key });

export const remove = (w: string, d: string): Promise<One> => del<One>(at`/api/workspaces/${w}/documents/${d}`);

// versions are all of a document's, the newest first, without contents.
export async function versions(w: string, d: string, signal?: AbortSignal): Promise<Document[]> {
  const all: Document[] = [];
  let cursor: number | null | undefined;
  do {
    const page: { versions: Document[]; next_cursor: number | null } = await get(at`/api/workspaces/${w}/documents/${d}/versions` + query({ cursor, limit: 100 }), { signal });
    all.push(...page.versions);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all.reverse();
}

// openTo says who may work in a workspace.
export function openTo({ container_id, physics }: Container): string {
  if (container_id === 'w:general') return t('workspaces.everyone');
  switch (physics.permeability) {
    case 'public':
      return t('workspaces.anyone');
    case 'open':
      return t('workspaces.everyone');
    case 'collaborative':
    case 'gated':
      return t('workspaces.members');
    case 'sealed':
      return t('workspaces.sealed');
  }
}
