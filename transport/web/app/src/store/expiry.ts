// expiry.ts drops messages here when their room keeps them no longer, as the server does, and
// without a network too. What a window shows goes within a minute, what is only kept within an hour.

import type { Db } from './db';
import type { Env } from './env';
import type { Rooms } from './rooms';
import type { Follower } from './rows';

const minute = 60_000;
const hour = 60 * minute;

export class Expiry {
  private swept = -Infinity; // when what is only kept was looked through, in ms
  private stopTimer: (() => void) | null = null;

  constructor(
    private readonly env: Env,
    private readonly db: Db,
    private readonly rooms: Rooms,
    private readonly windows: ReadonlySet<Follower>,
    // raise drops a room's messages below a number.
    private readonly raise: (roomId: string, floor: number) => void,
  ) {}

  // start looks now, and each minute from now on while a room keeps its messages for a time.
  start() {
    this.stopTimer?.();
    this.stopTimer = null;
    if (!this.rooms.mine.peek().some((room) => room.keeps)) return;
    void this.look();
    this.stopTimer = this.env.timer(minute, () => this.start());
  }

  stop() {
    this.stopTimer?.();
  }

  private async look() {
    const now = this.env.now();
    const all = now - this.swept >= hour;
    if (all) this.swept = now;
    for (const { room_id, keeps } of this.rooms.mine.peek()) {
      if (!keeps) continue;
      const until = new Date(now - keeps * hour).toISOString();
      const shown = [...this.windows].filter((window) => window.roomId === room_id).flatMap((window) => window.messages());
      const kept = all ? await this.db.all('messages', [room_id, 0], [room_id, Infinity]).catch(() => []) : [];
      const old = [...shown, ...kept].filter((m) => m.sent_at <= until).map((m) => m.room_seq);
      if (old.length > 0) this.raise(room_id, Math.max(...old) + 1);
    }
  }
}
