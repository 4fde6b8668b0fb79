// A room as one would write it on Durable Objects: one object is the single
// writer, keeps its counters in memory and stores a message and its two
// hash-chained atoms in one transaction. The runtime's output gate holds the
// reply back until SQLite has synced that transaction to disk (WAL journal,
// synchronous=FULL in this runtime).
import { DurableObject } from "cloudflare:workers";
import { createHash, randomUUID } from "node:crypto";

const TENANT = "t:bench.example";
const ROOM = "r:general";
const WHO = { email: "one@bench.example", is_service: false, user_id: "u:0123456789abcdef0123456789abcdef" };

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

// canonical sorts the keys of what a client sent. The atoms below are written
// with their keys in order, so JSON.stringify alone makes those canonical.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((k) => `${JSON.stringify(k)}:${canonical(value[k])}`).join(",")}}`;
}

export class Room extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec(`
      CREATE TABLE IF NOT EXISTS messages (room_seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS atoms (seq INTEGER PRIMARY KEY, head TEXT NOT NULL, json TEXT NOT NULL);
    `);
    this.roomSeq = this.sql.exec("SELECT coalesce(max(room_seq), 0) AS n FROM messages").one().n;
    const [last] = this.sql.exec("SELECT seq, head FROM atoms ORDER BY seq DESC LIMIT 1").toArray();
    this.seq = last?.seq ?? 0;
    this.head = last?.head ?? "h:genesis";
  }

  async fetch(request) {
    const { type, body, reply_to } = await request.json();
    // From here to the reply nothing waits, so sends can't mix.
    const request_id = `req:${randomUUID()}`;
    const when = new Date().toISOString();
    const room_seq = this.roomSeq + 1;
    const seq = this.seq + 1;
    const msg_id = `m:${randomUUID()}`;

    const action = {
      agreement_id: `a:room:${ROOM}`,
      did: "messenger.send",
      kind: "action.v1",
      prev_hash: this.head,
      status: "executed",
      tenant_id: TENANT,
      this: { body_hash: `b:${sha256(canonical(body))}`, msg_id, room_id: ROOM, room_seq },
      trace: { request_id },
      when,
      who: WHO,
    };
    const cid = `c:${sha256(JSON.stringify(action))}`;
    const head_hash = `h:${sha256(`${this.head}:${cid}`)}`;
    const effect = {
      effects: [{ op: "room.append", room_id: ROOM, room_seq }],
      kind: "effect.v1",
      outcome: "ok",
      pointers: { msg_id },
      prev_hash: head_hash,
      ref_action_cid: cid,
      tenant_id: TENANT,
      when,
    };
    const effectCid = `c:${sha256(JSON.stringify(effect))}`;
    const head = `h:${sha256(`${head_hash}:${effectCid}`)}`;
    const message = {
      attachments: [], body, msg_id,
      receipt: { cid, head_hash, ledger_shard: "0", seq, time: when },
      reply_to, room_id: ROOM, room_seq, sender_id: WHO.user_id, sent_at: when, tenant_id: TENANT, type,
    };

    this.ctx.storage.transactionSync(() => {
      this.sql.exec("INSERT INTO messages VALUES (?, ?)", room_seq, JSON.stringify(message));
      this.sql.exec(
        "INSERT INTO atoms VALUES (?, ?, ?), (?, ?, ?)",
        seq, head_hash, JSON.stringify({ cid, ...action }),
        seq + 1, head, JSON.stringify({ cid: effectCid, ...effect }),
      );
    });
    this.roomSeq = room_seq;
    this.seq = seq + 1;
    this.head = head;
    return Response.json({ message, request_id, server_time: when }, { status: 201 });
  }
}

export default {
  fetch: (request, env) => env.ROOM.get(env.ROOM.idFromName(ROOM)).fetch(request),
};
