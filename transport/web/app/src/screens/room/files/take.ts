// take takes files up for the message that is being written.

import { t } from '../../../words';
import { toast } from '../../../ui/Toast';
import type { Talk } from '../talk';

// most is how many files a message may carry.
const most = 10;

export function take(talk: Talk, files: readonly File[]) {
  const taken = files.slice(0, Math.max(0, most - talk.files().length));
  if (taken.length < files.length) toast(t('write.most', { n: most }), { kind: 'bad' });
  if (taken.length > 0) void talk.store.uploads.add(talk.roomId, taken, talk.thread);
}
