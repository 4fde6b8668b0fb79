// Previews of what messages link to, as the server answers them. Each page keeps those that it has
// been told of, and asks for two messages at a time: a page that is slow elsewhere must not take the
// connections that messages need.

import { at, get } from '../../api';
import type { Message } from '../../types';

export interface LinkPreview {
  url: string; // as the message has it
  host: string;
  title: string;
  description?: string;
  site_name?: string;
  image?: { url: string; width: number; height: number };
}

// kept is how many messages' previews a page keeps.
const kept = 500;
const known = new Map<string, readonly LinkPreview[]>();

const versionOf = (m: Message) => `${m.msg_id} ${m.edited?.room_seq ?? 0}`;

// knownOf are a message's previews, undefined where nobody asked yet.
export const knownOf = (m: Message): readonly LinkPreview[] | undefined => known.get(versionOf(m));

// patience is longer than the server takes for a page and its picture, in ms.
const patience = 15_000;

// previewsOf asks for a message's previews; none where it is no longer shown by then.
export async function previewsOf(m: Message, signal: AbortSignal): Promise<readonly LinkPreview[]> {
  await turn();
  try {
    const found = knownOf(m);
    if (found || signal.aborted) return found ?? [];
    const { previews } = await get<{ previews: LinkPreview[] }>(at`/api/rooms/${m.room_id}/entries/${m.msg_id}/previews`, { signal, timeout: patience, quiet: true });
    known.set(versionOf(m), previews);
    if (known.size > kept) known.delete(known.keys().next().value!);
    return previews;
  } finally {
    done();
  }
}

let free = 2;
const waiting: (() => void)[] = [];

// turn waits for one of the two places. Who came last is first: they are in view.
function turn(): Promise<void> {
  if (free > 0) {
    free--;
    return Promise.resolve();
  }
  return new Promise((resolve) => waiting.push(resolve));
}

function done() {
  const next = waiting.pop();
  if (next) next();
  else free++;
}

const code = /(```[\s\S]*?(?:```|$)|`[^`]*`)/;

// withoutPreview is a text that says by angle brackets that a link of it is to have no preview.
// Markdown shows the link as before.
export function withoutPreview(text: string, url: string): string {
  const exact = url.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const link = new RegExp(`(?<![<\\p{L}\\p{N}])${exact}(?=[.,;:!?'*_~]*(?:[)\\]}\\s"<>]|$))`, 'gu');
  return text
    .split(code)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(link, () => `<${url}>`)))
    .join('');
}
