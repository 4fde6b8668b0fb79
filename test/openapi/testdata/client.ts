// Talks to a server by the types that openapi-typescript has generated of the server's own
// OpenAPI document. It lists rooms, sends a message and reads it, writes a document, and meets
// errors. It ends with "ok".
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const [url, token] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

function expect(got: unknown, want: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

const made = await api.POST('/api/rooms', { body: { name: 'Lighthouse' } });
expect(made.response.headers.get('location'), `/api/rooms/${made.data?.room_id}`);

const names: string[] = [];
for (let cursor: string | null | undefined; cursor !== null; ) {
  const page = await api.GET('/api/rooms', { params: { query: { limit: 1, cursor } } });
  for (const room of page.data?.rooms ?? []) names.push(room.name);
  cursor = page.data?.next_cursor ?? null;
}
expect(names.includes('Lighthouse') && names.includes('general'), true);

const room = { path: { roomId: 'r:lighthouse' } };
const sent = await api.POST('/api/rooms/{roomId}/messages', { params: room, body: { type: 'text', body: { text: 'hello from TypeScript' } } });
const history = await api.GET('/api/rooms/{roomId}/history', { params: { ...room, query: { limit: 1 } } });
expect(history.data?.messages[0]?.body.text, 'hello from TypeScript');
expect(history.data?.messages[0]?.msg_id, sent.data?.message.msg_id);

const shelf = { workspaceId: 'w:general' };
const written = await api.POST('/api/workspaces/{workspaceId}/documents', { params: { path: shelf }, body: { title: 'Log', content: 'calm' } });
const documentId = written.data?.document?.document_id ?? '';
const read = await api.GET('/api/workspaces/{workspaceId}/documents/{documentId}', { params: { path: { ...shelf, documentId } } });
expect(read.data?.document?.content, 'calm');

const none = await api.GET('/api/rooms/{roomId}', { params: { path: { roomId: 'r:nowhere' } } });
expect(none.error?.error.code, 'not_found');
expect(none.data, undefined);
console.log('ok');
