// carry.ts brings the content of one file to the server, in pieces. Few who open the app send
// files, so this is read only then.

import { ApiError, at } from '../api';
import type { Upload } from './db';
import type { Env } from './env';

// life is how long the server is relied on to have what has come up, in ms: it does for a day
// after the last byte.
const life = 20 * 3600_000;

// first and last are the sizes of pieces, in bytes: each is twice the one before, while one
// takes less than quick ms.
const first = 256 << 10;
const last = 8 << 20;
const quick = 1000;

// pieceTime is how long one piece may take, in ms.
const pieceTime = 120_000;

interface Begun {
  upload: { upload_id: string; offset: number };
}

// carry brings a file up from where the server is, and answers its upload_id. How far it is is told
// as it goes on: with keep false, for the screen alone.
export async function carry(env: Env, upload: Upload, tell: (now: Partial<Upload>, keep?: boolean) => Promise<void>, until: AbortSignal): Promise<string> {
  const { content } = upload;
  const begun = await begin(env, upload, until);
  let { offset } = begun;
  let size = first;
  await tell({ upload_id: begun.upload_id, sent: offset, ...(upload.upload_id !== begun.upload_id && { begun_at: env.now(), state: 'waiting' }) });
  while (offset < content.size) {
    const piece = content.slice(offset, offset + size);
    const since = env.now();
    await append(env, begun.upload_id, offset, piece, until);
    offset += piece.size;
    if (env.now() - since < quick) size = Math.min(last, size * 2);
    await tell({ sent: offset }, false);
  }
  await tell({ state: 'up', sent: offset });
  return begun.upload_id;
}

// begin answers how far the server is, and begins where it has nothing.
async function begin(env: Env, { room_id, name, content, upload_id, begun_at }: Upload, signal: AbortSignal): Promise<Begun['upload']> {
  if (upload_id && env.now() - (begun_at ?? 0) < life) {
    const found = await env.get<Begun>(at`/api/uploads/${upload_id}`, { signal }).catch((problem: unknown) => {
      if (problem instanceof ApiError && problem.status === 404) return null;
      throw problem;
    });
    if (found) return found.upload;
  }
  return (await env.post<Begun>(at`/api/rooms/${room_id}/uploads`, { name, bytes: content.size }, { signal })).upload;
}

async function append(env: Env, uploadId: string, offset: number, body: Blob, until: AbortSignal) {
  const limit = new AbortController();
  const stop = () => limit.abort();
  const noTimer = env.timer(pieceTime, stop);
  until.addEventListener('abort', stop);
  const headers = { 'Content-Type': 'application/partial-upload', 'Upload-Offset': String(offset) };
  try {
    const response = await env.fetch(at`/api/uploads/${uploadId}`, { method: 'PATCH', headers, body, signal: limit.signal }).catch(() => {
      throw new ApiError('offline', 'The line was lost', 0);
    });
    if (response.ok) return;
    const said = ((await response.json().catch(() => null)) as { error?: { code: ApiError['code']; message: string } } | null)?.error;
    throw new ApiError(said?.code ?? 'unavailable', said?.message ?? 'The server did not take it', response.status);
  } finally {
    noTimer();
    until.removeEventListener('abort', stop);
  }
}
