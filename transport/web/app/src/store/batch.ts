// batch.ts has the one form in which anything changes here. A batch goes three ways:
// into the signals of this tab, into the database, and to the other tabs, which put
// it into their signals alone. Taking one twice, or late, does no harm.

import type { Message } from '../types';
import type { Draft, Known, Outgoing, ReadMark, RoomRow } from './db';

export interface Batch {
  // reset comes first: the server is not what it was, and all that came from it goes.
  reset?: boolean;
  messages?: Message[];
  changed?: Message[]; // as they are now: they take the place of the same, where that is shown
  rooms?: RoomRow[];
  gone?: string[]; // ids of rooms that one is no longer in
  marks?: ReadMark[];
  outgoing?: Outgoing[]; // new or changed
  settled?: Settled[];
  drafts?: Draft[]; // one without text or reply_to is none
  people?: Known[];
}

// Settled is an outgoing message that has arrived, or was given up: then message is
// null.
export interface Settled {
  id: string;
  message: Message | null;
}

// Commit takes a batch all three ways, and resolves when it is kept. strict waits
// for the disk itself.
export type Commit = (batch: Batch, strict?: boolean) => Promise<void>;
