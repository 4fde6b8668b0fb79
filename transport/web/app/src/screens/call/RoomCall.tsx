// The button above a room by which one gets into its call.

import { useState } from 'preact/hooks';
import { entryIn } from '../../store/entries';
import { Button } from '../../ui/Button';
import { failed } from '../../ui/Toast';
import { t } from '../../words';
import type { Talk } from '../room/talk';
import { current } from './call';
import { begin } from './CallPanel';

// ongoing is the newest entry of a call in what is shown of a room, while that goes on.
export function ongoing(talk: Talk): string | undefined {
  const newest = talk.window.items.value.findLast(({ message }) => message && entryIn(message)?.type === 'call')?.message;
  return newest && entryIn(newest)!.body?.json?.state === 'began' ? newest.msg_id : undefined;
}

// useBegin has one join, and tells while that is under way.
export function useBegin({ store, roomId }: Talk): [boolean, () => void] {
  const [busy, setBusy] = useState(false);
  const run = () => {
    setBusy(true);
    begin(store, roomId)
      .catch(failed)
      .finally(() => setBusy(false));
  };
  return [busy, run];
}

export default function RoomCall({ talk }: { talk: Talk }) {
  const [busy, run] = useBegin(talk);
  if (!talk.rights.value.write || current.value?.roomId === talk.roomId) return null;
  return <Button kind={ongoing(talk) ? 'primary' : 'quiet'} icon="phone" busy={busy} label={t(ongoing(talk) ? 'call.join' : 'call.begin')} onClick={run} />;
}
