// The buttons by which one gets into a room's call.

import { useState } from 'preact/hooks';
import { entryIn } from '../../store/entries';
import type { Message } from '../../types';
import { Button } from '../../ui/Button';
import { failed } from '../../ui/Toast';
import { t } from '../../words';
import type { Talk } from '../room/talk';
import { current } from './call';
import { begin } from './CallPanel';

// ongoing is the newest entry of a call in what is shown of a room, while that goes on.
function ongoing(talk: Talk): string | undefined {
  const newest = talk.window.items.value.findLast(({ message }) => message && entryIn(message)?.type === 'call')?.message;
  return newest && entryIn(newest)!.body?.json?.state === 'began' ? newest.msg_id : undefined;
}

// CallButton is above the room, and without a message; else it is in the line of one, where that
// tells of a call which is going on.
export default function CallButton({ talk, message }: { talk: Talk; message?: Message }) {
  const [busy, setBusy] = useState(false);
  if (message && entryIn(message)?.type !== 'call') return null;
  if (!talk.rights.value.write || current.value?.roomId === talk.roomId) return null;
  const now = ongoing(talk);
  if (message && now !== message.msg_id) return null;
  const run = () => {
    setBusy(true);
    begin(talk.store, talk.roomId)
      .catch(failed)
      .finally(() => setBusy(false));
  };
  if (message) {
    return (
      <Button busy={busy} onClick={run}>
        {t('incall.join')}
      </Button>
    );
  }
  return <Button kind={now ? 'primary' : 'quiet'} icon="phone" busy={busy} label={t(now ? 'incall.join' : 'incall.begin')} onClick={run} />;
}
