// sent.ts finds out whether a message has arrived whose key the server may have
// forgotten: it keeps keys for a day. Our key is the id of the request too, and so the
// action's atom names it for ever.

import { at, query } from '../api';
import { isAction, type Message, type ReceiptLookup } from '../types';
import type { Outgoing } from './db';
import type { Env } from './env';

// pages of 200 messages are looked through, before we say that we don't know.
const pages = 20;

// findSent answers the message that the entry has become, null where it never arrived,
// and undefined where too much has been written since to tell.
export async function findSent(env: Env, me: string, entry: Outgoing, signal: AbortSignal): Promise<Message | null | undefined> {
  let cursor: number | null | undefined;
  for (let page = 0; page < pages; page++) {
    const url = at`/api/rooms/${entry.room_id}/history` + query({ cursor, limit: 200 });
    const { messages, next_cursor } = await env.get<{ messages: Message[]; next_cursor: number | null }>(url, { signal });
    for (const message of messages.reverse()) {
      if (mayBe(entry, me, message) && (await isFrom(env, entry.id, message, signal))) return message;
    }
    if (next_cursor === null || next_cursor <= entry.after_seq + 1) return null;
    cursor = next_cursor;
  }
  return undefined;
}

// mayBe tells whether the message looks like what the entry would become.
export function mayBe(entry: Outgoing, me: string, m: Message): boolean {
  return (
    m.room_id === entry.room_id && m.room_seq > entry.after_seq && m.sender_id === me && m.type === 'text' &&
    (m.body.text === entry.text || m.edited !== undefined) && m.thread === entry.thread && m.reply_to === entry.reply_to &&
    (m.attachments ?? []).length === (entry.files ?? []).length
  );
}

async function isFrom(env: Env, key: string, message: Message, signal: AbortSignal): Promise<boolean> {
  const { atoms } = await env.get<ReceiptLookup>(at`/api/receipts/${message.receipt.seq}`, { signal });
  const [action] = atoms;
  return action !== undefined && isAction(action) && action.trace.request_id === key;
}
