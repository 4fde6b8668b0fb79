// acts.ts has what one does to a message that is there: it waits in the outbox as messages do, and
// shows at once.

import { at } from '../api';
import type { Entry, Message } from '../types';
import type { Outgoing } from './db';
import { emptied, pinned, reacted, without } from './entries';

// requestOf is where and how an act is asked of the server.
export function requestOf({ id, room_id, act }: Outgoing): { url: string; body: Record<string, unknown> } {
  const { target } = act!;
  const key = { client_request_id: id };
  switch (act!.type) {
    case 'edit': {
      const { text, mentions } = act!;
      const json = { text, ...(mentions?.length && { mentions }) };
      return { url: at`/api/rooms/${room_id}/entries/${target}/edits`, body: { ...key, body: { content_type: 'application/vnd.ubl.text+json', json } } };
    }
    case 'reaction':
      return { url: at`/api/rooms/${room_id}/entries/${target}/reactions`, body: { ...key, reaction: act!.key } };
    case 'redaction':
      return { url: at`/api/rooms/${room_id}/entries/${target}/redaction`, body: key };
    case 'pin':
      return { url: at`/api/rooms/${room_id}/entries/${target}/pin`, body: { ...key, pinned: act!.pinned } };
  }
}

// soon is what a row becomes by an act that is on its way.
export function soon(row: Message, { id, act, created_at, state }: Outgoing, me: string): Message {
  if (state === 'failed' || row.type === 'entry') return row;
  const when = new Date(created_at).toISOString();
  switch (act!.type) {
    case 'edit': {
      const { text, mentions } = act!;
      const { versions = [], room_seq = 0 } = row.edited ?? {};
      return { ...row, body: { text, ...(mentions?.length && { mentions }) }, edited: { at: when, room_seq, versions } };
    }
    case 'reaction':
      return reacted(row, act!.key, { user_id: me, entry_id: id });
    case 'redaction': {
      if (act!.target !== row.msg_id) return without(row, act!.target);
      return emptied(row, { sent_at: when, author_id: me, room_seq: 0 } as Entry);
    }
    case 'pin':
      return pinned(row, act!.pinned);
  }
}
