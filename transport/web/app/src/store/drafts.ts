// drafts.ts keeps what was written and not sent, when the person pauses or leaves. A
// draft shows in the list of rooms once it is kept.
//
// Nothing promises that what a page asks of the database as its last is done, not even
// on a reload. So what isn't kept by then goes to the tab's session too, from where
// the page that comes next takes it.

import type { Commit } from './batch';
import type { Draft } from './db';
import type { Env } from './env';

// pause is how long a draft may change before it is kept, in ms.
const pause = 400;

export class Drafts {
  private readonly changed = new Map<string, Draft>(); // and not yet kept
  private kept: Promise<unknown> = Promise.resolve(); // once all that is on its way is
  private stop: (() => void) | null = null;

  // name is that of the store, since a tab may have had another person's.
  constructor(
    private readonly env: Env,
    private readonly name: string,
    private readonly commit: Commit,
  ) {}

  set(draft: Draft) {
    this.changed.set(draft.room_id, draft);
    this.stop ??= this.env.timer(pause, () => void this.keep());
  }

  // of is a room's draft as it was set last, where that isn't kept yet.
  of(roomId: string): Draft | undefined {
    return this.changed.get(roomId);
  }

  // drop forgets what isn't kept yet.
  drop(roomId: string) {
    this.changed.delete(roomId);
  }

  // keep keeps at once what has changed. What is on its way until the database has it
  // hasn't been kept: the page may end before.
  keep(): Promise<unknown> {
    this.stop?.();
    this.stop = null;
    const drafts = [...this.changed.values()];
    if (drafts.length === 0) return this.kept;
    const done = this.commit({ drafts }).then(() => {
      for (const draft of drafts) if (this.of(draft.room_id) === draft) this.drop(draft.room_id);
    });
    return (this.kept = Promise.all([this.kept, done]));
  }

  // leave keeps what has changed in what may be the page's last moment.
  leave() {
    if (this.changed.size === 0) return;
    try {
      this.env.session?.setItem(this.name, JSON.stringify([...this.changed.values()]));
    } catch {
      // A session without space is as good as none.
    }
    void this.keep().then(() => this.forget());
  }

  // resume takes up what the page before this one left.
  async resume(): Promise<void> {
    const left = this.env.session?.getItem(this.name);
    if (!left) return;
    await this.commit({ drafts: JSON.parse(left) as Draft[] });
    this.forget();
  }

  // forget ends what was left to the next page.
  forget() {
    this.env.session?.removeItem(this.name);
  }
}
