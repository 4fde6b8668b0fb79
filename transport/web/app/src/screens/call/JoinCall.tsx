// The button in the line which tells that a call began; nothing once that is over.

import type { Message } from '../../types';
import { Button } from '../../ui/Button';
import { t } from '../../words';
import type { Talk } from '../room/talk';
import { current } from './call';
import { ongoing, useBegin } from './RoomCall';

export default function JoinCall({ talk, message }: { talk: Talk; message: Message }) {
  const [busy, run] = useBegin(talk);
  if (!talk.rights.value.write || current.value?.roomId === talk.roomId || ongoing(talk) !== message.msg_id) return null;
  return (
    <Button busy={busy} onClick={run}>
      {t('call.join')}
    </Button>
  );
}
