// A ledger as the server keeps it, made of the same pieces that check it: enough for
// messages, their receipts and atoms.

import { cidOf, committed, genesis, nextHead, type Json } from '../src/chain';
import type { Message } from '../src/types';

export const tenant = 't:test';

export class Ledger {
  readonly atoms: Json[] = [];
  head = genesis;

  get seq(): number {
    return this.atoms.length;
  }

  async append(atom: Json): Promise<string> {
    const sealed: Json = { ...(String(atom.kind).endsWith('.v2') && { shard: '0' }), ...atom, tenant_id: tenant, prev_hash: this.head };
    sealed.cid = await cidOf(sealed);
    this.head = await nextHead(this.head, String(sealed.cid));
    this.atoms.push(sealed);
    return String(sealed.cid);
  }

  // say appends the two atoms of a message, and answers the message.
  async say(m: { room_id: string; room_seq: number; sender_id: string; text: string; reply_to?: string | null; request_id?: string }): Promise<Message> {
    const { room_id, room_seq, sender_id } = m;
    const id = `m:${room_seq.toString(16).padStart(12, '0').replace(/^(.{8})/, '$1-')}-8000-8000-${String(this.seq).padStart(12, '0')}`;
    const when = new Date(Date.UTC(2026, 0, 1) + this.seq * 1000).toISOString();
    const cid = await this.append({
      kind: 'action.v2', did: 'messenger.send', status: 'executed', agreement_id: `a:room:${room_id}`, when,
      this: { body_hash: await committed({ text: m.text }), msg_id: id, room_id, room_seq },
      trace: { request_id: m.request_id ?? 'req:none' }, who: { user_id: sender_id, email: null, is_service: true },
    });
    const receipt = { ledger_shard: '0' as const, seq: this.seq, cid, head_hash: this.head, time: when };
    await this.append({
      kind: 'effect.v2', outcome: 'ok', ref_action_cid: cid, when,
      effects: [{ op: 'room.append', room_id, room_seq }], pointers: { msg_id: id },
    });
    return {
      msg_id: id, tenant_id: tenant, room_id, room_seq, sender_id, sent_at: when, type: 'text',
      body: { text: m.text }, reply_to: m.reply_to ?? null, attachments: [], receipt,
    };
  }
}
