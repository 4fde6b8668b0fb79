// unsaved.ts keeps what is written in documents and not saved, so that it is found again
// when the app was closed meanwhile. What was typed in a tab's last moment may be missing.

import type { Change, Db, Unsaved as Text } from './db';

export class Unsaved {
  constructor(
    private readonly db: Db,
    private readonly write: (changes: Change[]) => Promise<void>,
  ) {}

  of(name: string): Promise<Text | undefined> {
    return this.db.get('unsaved', name).catch(() => undefined);
  }

  keep(text: Text): Promise<void> {
    return this.write([{ put: 'unsaved', value: text }]);
  }

  forget(name: string): Promise<void> {
    return this.write([{ del: 'unsaved', key: name }]);
  }
}
