// What stands above the words that a message repeats: whose they are, and the way to where they
// were written, for who may read that.

import { at, get } from '../../api';
import { go } from '../../router';
import { seqOf } from '../../store/history';
import { nameOf } from '../../text';
import type { EntryAnswer, Forwarded as Whose, Message } from '../../types';
import { Time } from '../../ui/Bits';
import { failed } from '../../ui/Toast';
import { t } from '../../words';
import { linkTo } from '../rooms/jump';
import { whoIs } from './who';

export default function Forwarded({ message, of }: { message: Message; of: Whose }) {
  const who = of.author_name ? nameOf({ user_id: of.author_id, name: of.author_name }) : whoIs(of.author_id).name;
  return (
    <p class="forwarded soft small">
      <button type="button" tabIndex={-1} title={t('forward.source')} onClick={() => void toSource(message).catch(failed)}>
        {t('forward.from', { who })}
      </button>{' '}
      · <Time at={of.at} as="date" />
    </p>
  );
}

async function toSource({ room_id, msg_id }: Message): Promise<void> {
  const { entry } = await get<EntryAnswer>(at`/api/rooms/${room_id}/entries/${msg_id}`);
  if (!entry.source) throw new Error(t('forward.nosource'));
  go(linkTo({ room_id: entry.source.room_id, room_seq: seqOf(entry.source.msg_id) }));
}
