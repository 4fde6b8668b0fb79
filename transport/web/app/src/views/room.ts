// The view ui://ubl/room: a room's messages, as messenger.history answered them, briefly. Each can
// be checked: its entry and its receipt are fetched, and the hashes are computed in the page.

import { canVerify, verifyReceipt, type Json } from '../chain';
import { rowOf } from '../store/entries';
import { bare, nameOf } from '../text';
import { brief, date, full } from '../time';
import type { EntryAnswer, Member, ReceiptLookup } from '../types';
import { start, type Host } from './host';
import { button, check, clear, el } from './page';
import { t } from './words';

// Said is a message as brief answers have it: sender is what to call its sender.
interface Said {
  msg_id: string;
  sender_id: string;
  sender?: string;
  sent_at: string;
  type: string;
  body: { text: string };
  receipt: { seq: number };
  edited?: { at: string };
  imported_from?: { author_name?: string; at: string };
}

interface History {
  messages: Said[];
  senders?: Member[];
}

start('ubl-room', (data, host) => {
  const room = String(host.args.room_id ?? '');
  const head = el('header', {}, el('h1', { dir: 'auto' }, bare(room)));
  const main = el('main');
  const draw = (of: History) => clear(main, of.messages.length > 0 ? list(of, host) : el('p', {}, 'No message yet.'));
  if (host.uses && room) head.append(button('Refresh', async () => draw(await newest(host, room))));
  clear(document.body, head, main);
  draw(data as History);
});

// newest asks with the names of all whom the messages are about.
const newest = (host: Host, room_id: string) => host.use<History>('messenger.history', { room_id, senders: true });

function list({ messages, senders = [] }: History, host: Host): HTMLElement {
  const names = new Map(messages.flatMap((m) => (m.sender ? [[m.sender_id, m.sender]] : [])));
  const called = (id: string) => nameOf(senders.find((s) => s.user_id === id) ?? { user_id: id, name: names.get(id) });
  return el('ol', { 'aria-label': 'Messages' }, ...messages.map((m) => row(m, called, host)));
}

function row(m: Said, called: (id: string) => string, host: Host): HTMLElement {
  const by = el('div', { class: 'by' }, el('span', {}, el('b', { dir: 'auto' }, m.sender ?? called(m.sender_id)), ' ', el('time', { datetime: m.sent_at, title: full(m.sent_at) }, brief(m.sent_at))));
  const was = m.imported_from;
  if (was) by.append(el('span', {}, ' (imported, was ', el('bdi', {}, was.author_name || 'somebody'), ', ', el('time', { datetime: was.at, title: full(was.at) }, date(was.at)), ')'));
  const system = m.type === 'system';
  // The server names people by their ids in what it says itself.
  const text = system ? m.body.text.replace(/u:[0-9a-f]{32}/g, called) : m.body.text;
  const checks = el('ul', { 'aria-live': 'polite' });
  if (m.edited) by.append(' ', el('span', { title: full(m.edited.at) }, 'edited'));
  // The first receipt is of what was said first; what an edited message says now has another.
  if (host.uses && canVerify() && !system && !m.edited) by.append(button(`Check receipt ${m.receipt.seq}`, async () => clear(checks, ...(await checked(m, host)))));
  return el('li', {}, by, el('p', { class: 'text', dir: 'auto' }, text), checks);
}

// checked holds what is shown against the receipt of its entry.
async function checked(m: Said, host: Host): Promise<HTMLElement[]> {
  const { atoms } = await host.use<ReceiptLookup>('receipt.get', { seq: m.receipt.seq });
  const { entry } = await host.use<EntryAnswer>('messenger.entry', { room_id: host.args.room_id, entry_id: m.msg_id });
  const { imported_from: was, ...kept } = rowOf(entry);
  const shown = { ...kept, sender_id: m.sender_id, sent_at: m.sent_at, body: { ...kept.body, text: m.body.text }, ...(m.imported_from && { imported_from: { ...was!, ...m.imported_from } }) };
  const { checks } = await verifyReceipt(shown, atoms as unknown as Json[], entry.salt ?? '');
  return checks.map(({ what, ok }) => check(ok, t(`proof.${what}.held`), t(`proof.${what}.broke`)));
}
