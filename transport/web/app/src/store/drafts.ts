// drafts.ts keeps what was written and not sent, when the person pauses or leaves. A
// draft shows in the list of rooms once it is kept.

import type { Commit } from './batch';
import type { Draft } from './db';
import type { Env } from './env';

// pause is how long a draft may change before it is kept, in ms.
const pause = 400;

export class Drafts {
  private readonly changed = new Map<string, Draft>();
  private stop: (() => void) | null = null;

  constructor(
    private readonly env: Env,
    private readonly commit: Commit,
  ) {}

  set(draft: Draft) {
    this.changed.set(draft.room_id, draft);
    this.stop ??= this.env.timer(pause, () => this.keep());
  }

  // of is a room's draft as it was set last, where that isn't kept yet.
  of(roomId: string): Draft | undefined {
    return this.changed.get(roomId);
  }

  // drop forgets what isn't kept yet.
  drop(roomId: string) {
    this.changed.delete(roomId);
  }

  // keep keeps at once what has changed.
  keep() {
    this.stop?.();
    this.stop = null;
    if (this.changed.size > 0) void this.commit({ drafts: [...this.changed.values()] });
    this.changed.clear();
  }
}
