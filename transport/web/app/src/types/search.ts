import type { Receipt } from './ledger';

// MessageHit is a message that a search found, as it reads now.
export interface MessageHit {
  author_id: string;
  edited?: boolean;
  entry_id: string;
  highlights: { start: number; end: number }[]; // in code points of the snippet
  place: { room_id: string; room_seq: number; from_seq: number; to_seq: number; thread?: string };
  room_name: string;
  score?: number;
  sent_at: string;
  snippet: string;
}

export interface MessageHits {
  hits: MessageHit[];
  next_cursor: string | null;
  indexing?: { complete_up_to: string | null };
  receipt: Receipt;
}
