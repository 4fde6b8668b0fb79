// What a message replies to, in one line that leads there.

import { oneLine } from '../../text';
import { orLeft } from '../Person';
import type { Talk } from './talk';
import { whoIs, wordsOf } from './who';

export function Quote({ talk, msgId }: { talk: Talk; msgId: string }) {
  const message = talk.quote(msgId).value;
  if (!message) {
    return (
      <p class="quote gone">
        <span class="name"> </span>
        <span class="words">{message === null ? 'A message that is gone' : '…'}</span>
      </p>
    );
  }
  const who = whoIs(message.sender_id);
  return (
    <button type="button" class="quote" tabIndex={-1} title="Go to the message" onClick={() => void talk.goTo(message.room_seq)}>
      <span class="name">
        <span class="hidden">In reply to </span>
        <bdi>{who.mine ? 'You' : who.name}</bdi>{orLeft(who.id)}
      </span>
      <span class="words" dir="auto">
        {oneLine(wordsOf(message).slice(0, 300))}
      </span>
    </button>
  );
}
