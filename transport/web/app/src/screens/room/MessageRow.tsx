// A row of the timeline: what parts it from the row before, and the message.

import './MessageRow.css';
import { day as dayOf } from '../../time';
import type { Item } from '../../store/rows';
import { Bubble } from './Bubble';
import { Time } from '../../ui/Bits';
import { CallButton } from './CallButton';
import { memo } from '../../ui/memo';
import { isLine, type Place } from './group';
import type { Talk } from './talk';
import { wordsOf } from './who';
import { t } from '../../words';


interface Props extends Place {
  item: Item;
  talk: Talk;
  // fresh draws the line above the first new message.
  fresh: boolean;
  // tail is the newest row, which keeps a distance from what is below.
  tail: boolean;
  // own is one's newest message.
  own: boolean;
  // answers is how many answers stand below the message that began a thread.
  answers?: number;
}

export const MessageRow = memo(function MessageRow({ item, talk, day, first, last, fresh, tail, own, answers }: Props) {
  const { message } = item;
  return (
    <div class={tail ? 'entry tail' : 'entry'}>
      {day && (
        <p class="day">
          <time dateTime={day}>{dayOf(day)}</time>
        </p>
      )}
      {fresh && (
        <p class="fresh">
          <span>{t('talk.new')}</span>
        </p>
      )}
      {message && isLine(item) ? (
        <p class="system" dir="auto">
          {wordsOf(message)} · <Time at={message.sent_at} as="clock" /> <CallButton talk={talk} message={message} />
        </p>
      ) : (
        <Bubble item={item} talk={talk} first={first} last={last} own={own} />
      )}
      {answers !== undefined && <p class="answers">{answers > 0 ? t('talk.replies', { n: answers }) : t('talk.replies.none')}</p>}
    </div>
  );
});
