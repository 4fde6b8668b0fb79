// The documents that the palette knows: their lists are read when somebody searches, once in
// a while, since each look at one leaves a receipt.

import { useEffect, useState } from 'preact/hooks';
import { person } from '../../session';
import type { Document } from '../../types';
import { list, listWorkspaces } from '../documents/api';

const fresh = 5 * 60_000; // ms
const most = 20; // workspaces that are looked into

let kept: { whose: string; at: number; documents: Promise<readonly Document[]> } | undefined;

// useDocuments has them as soon as they are wanted and there. Without a network there are none.
export function useDocuments(wanted: boolean): readonly Document[] {
  const [documents, setDocuments] = useState<readonly Document[]>([]);
  useEffect(() => {
    if (!wanted) return;
    let here = true;
    void read().then((all) => here && setDocuments(all));
    return () => void (here = false);
  }, [wanted]);
  return documents;
}

function read(): Promise<readonly Document[]> {
  const whose = person.peek();
  if (kept?.whose !== whose || Date.now() - kept.at > fresh) {
    const documents = load().catch((): readonly Document[] => {
      kept = undefined; // it is tried again next time
      return [];
    });
    kept = { whose, at: Date.now(), documents };
  }
  return kept.documents;
}

async function load(): Promise<readonly Document[]> {
  const { workspaces } = await listWorkspaces();
  const pages = await Promise.all(workspaces.slice(0, most).map((w) => list(w.container_id).then((page) => page.documents, () => [])));
  return pages.flat();
}
