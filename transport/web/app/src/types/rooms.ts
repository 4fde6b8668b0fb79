import type { Physics } from './agreements';
import type { ImportedFrom, Receipt } from './ledger';
import type { Role } from './people';
import type { Form, FormState } from './forms';
import type { Poll, PollState } from './polls';

// Edited tells of a message's edits. In a Message, body is what the newest says; in an Entry, body
// here is.
export interface Edited {
  at: string;
  room_seq: number; // of the newest
  versions: number[]; // the room_seq of each, oldest first
  body?: { content_type: string; json?: Record<string, unknown> };
}

// Reactions are those by one key. by may be the first of more than count says.
export interface Reactions {
  key: string;
  count: number;
  by: { user_id: string; entry_id: string }[];
  imported?: string[]; // names of those who reacted where it was imported from
}

// Replies are the answers in the thread that a message began; room_seq is that of the newest.
export interface Replies {
  count: number;
  room_seq: number;
}

// Attachment is a file that a message carries. Width and height are an image's, as it is shown.
export interface Attachment {
  file_id: string;
  name: string;
  bytes: number;
  content_type: string;
  sha256: string;
  width?: number;
  height?: number;
  thumbnail?: true;
}

export interface Message {
  msg_id: string;
  tenant_id: string;
  room_id: string;
  room_seq: number;
  sender_id: string;
  sent_at: string;
  // "entry" is the app's own, for other entries of the timeline (store/entries.ts).
  type: 'text' | 'system' | 'entry';
  body: { text: string; mentions?: string[] };
  poll?: Poll; // what the message asks, where it is a poll
  polled?: PollState; // what had become of it when the server told
  pollAt?: number; // the room_seq of the newest vote, or of the end, since then
  form?: Form; // what the message asks, where it is a form
  answered?: FormState; // what had become of it when the server told
  answeredAt?: number; // the room_seq of the newest answer since then
  reply_to: string | null;
  thread?: string; // the msg_id of the message that began the thread
  attachments: Attachment[];
  edited?: Edited;
  pinned?: true;
  reactions?: Reactions[];
  replies?: Replies;
  imported_from?: ImportedFrom;
  forwarded?: Forwarded;
  receipt: Receipt;
}

// Forwarded says whose words of another room a message repeats. comment is how many characters of
// its text are the sender's own; the words begin behind them and an empty line.
export interface Forwarded {
  at: string;
  author_id: string;
  author_name?: string;
  comment?: number;
}

// Entry is anything in a room's timeline. Its body is null once it is redacted.
export interface Entry {
  kind: 'entry.v2';
  entry_id: string;
  tenant_id: string;
  room_id: string;
  room_seq: number;
  author_id: string;
  sent_at: string;
  type: string; // message, edit, reaction, redaction, pin, membership, proposal, and what later servers have
  target?: string; // the entry_id of what it is about
  reply_to?: string;
  thread?: string;
  attachments?: Attachment[]; // of an edit those that its message keeps, where it says so
  body: { content_type: string; json?: Record<string, unknown>; bytes?: string } | null;
  salt?: string;
  redacted?: { at: string; by: string; room_seq: number };
  edited?: Edited;
  pinned?: true;
  reactions?: Reactions[];
  replies?: Replies;
  poll?: PollState;
  form?: FormState;
  imported_from?: ImportedFrom;
  forwarded?: Forwarded;
  source?: { msg_id: string; room_id: string }; // what it repeats, for who reads it alone and may read that
  receipt: Receipt;
}

export interface EntryAnswer {
  entry: Entry;
}

export interface RoomSummary {
  room_id: string;
  name: string;
  mode: 'internal';
  created_at: string;
  // The room can be read, and nothing more.
  status?: 'ended';
  topic?: string;
  direct?: { members: string[] }; // between whom its messages are, where they are direct
}

// RoomEntry is a room in the list; a room that one may join but is no member of has
// neither last_seq nor last_message, as one that can't be read (details_error).
export interface RoomEntry extends RoomSummary {
  member: boolean;
  alike?: true;
  // How far the person has read it, on whichever device.
  read?: { read_seq: number; unread: number; mentions: number };
  last_seq?: number;
  last_message?: Message | null;
  // How many of the entries up to last_seq are messages; absent where the server doesn't say.
  messages?: number;
  details_error?: { code: string; message: string };
  // In the directory of rooms that one may join.
  members?: number;
  active_at?: string;
}

// ReadMark is how far somebody has read a room.
export interface ReadMark {
  user_id: string;
  read_seq: number;
}

export interface RoomPolicy {
  max_message_bytes: number;
  // How long messages are kept: whole days, and hours beside them. 0 of both is for ever.
  retention_days: number;
  retention_hours?: number;
  join: 'invite' | 'tenant';
  // Who writes: owners and moderators alone, or the others in threads, too. Absent for everybody.
  posting?: 'moderators' | 'threads';
}

export interface Room extends RoomSummary {
  description?: string; // in CommonMark
  tenant_id: string;
  policy: RoomPolicy;
  // Fixed when the room was made.
  physics?: Physics;
  // Who owns the room once its last owner is gone.
  heir?: string;
  last_seq: number;
  available_from: number;
}

// RoomCall is a call that goes on in a room.
export interface RoomCall {
  call_id: string;
  began_at: string;
  began_by: string;
}

// Caller is a browser in a call.
export interface Caller {
  session: string;
  user_id: string;
}

// InCall is who is in a call just now, and for whom signals wait.
export interface InCall {
  call_id: string;
  news: string[];
  people: Caller[];
}

// RoomEvent is what GET /api/events streams; the event's id is its cursor.
export type RoomEvent = { tenant_id: string; room_id: string; ts: string } & (
  | { event: 'message.created'; payload: { message: Message } }
  | { event: 'entry.created'; payload: { entry: Entry } }
  | { event: 'room.created'; payload: RoomSummary }
  | { event: 'room.member_joined'; payload: { user_id: string; role?: Role | null } }
  | { event: 'room.left'; payload: { user_id: string } } // oneself
  | { event: 'room.read'; payload: { user_id: string; read_seq: number } } // oneself, on any device
  | { event: 'room.call'; payload: InCall } // in a room's own stream
  | { event: 'room.typing'; payload: { user_id: string; until: string } } // in a room's own stream
  | { event: 'person.changed'; payload: { what: string } } // oneself, on any device
  | { event: 'room.gap'; payload: { from_seq: number; available_from: number } }
);
