// What a message replies to, in one line that leads there.

import { oneLine } from '../../text';
import { orLeft } from '../Person';
import type { Talk } from './talk';
import { whoIs, wordsOf } from './who';
import { t } from '../../words';

export function Quote({ talk, msgId }: { talk: Talk; msgId: string }) {
  const message = talk.quote(msgId).value;
  if (!message) {
    return (
      <p class="quote gone">
        <span class="name"> </span>
        <span class="words">{message === null ? t('talk.gone') : '…'}</span>
      </p>
    );
  }
  const who = whoIs(message.sender_id);
  return (
    <button type="button" class="quote" tabIndex={-1} title={t('talk.go')} onClick={() => void talk.goTo(message.room_seq)}>
      <span class="name">
        <span class="hidden">{t('talk.inreply')} </span>
        <bdi>{who.mine ? t('talk.self') : who.name}</bdi>{orLeft(who.id)}
      </span>
      <span class="words" dir="auto">
        {oneLine(wordsOf(message).slice(0, 300))}
      </span>
    </button>
  );
}
