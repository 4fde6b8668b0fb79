// A room that one is in: its name, its messages, and where one writes.

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { TargetedKeyboardEvent } from 'preact';
import { go } from '../../router';
import type { RoomView } from '../../store/rooms';
import type { Store } from '../../store/sync';
import { count } from '../../text';
import { Button } from '../../ui/Button';
import { lazy } from '../../ui/lazy';
import { Screen } from '../../ui/Screen';
import { linked, useJump } from '../rooms/jump';
import { useLine } from '../line';
import { Composer } from './Composer';
import { useFacts } from './facts';
import { MessageMenu } from './MessageMenu';
import { ReceiptHint } from './ReceiptHint';
import { spanOf } from './span';
import { useSpoken } from './spoken';
import { Talk } from './talk';
import { useUndone } from './undone';
import { Timeline } from './Timeline';
import { t } from '../../words';

const Picker = lazy(() => import('./Picker'));
const Remind = lazy(() => import('../../notify/Remind'));
const Forward = lazy(() => import('./Forward'));
const NewPoll = lazy(() => import('./NewPoll'));
const Versions = lazy(() => import('./Versions'));
const Readers = lazy(() => import('./Readers'));
const MessageDetails = lazy(() => import('./MessageDetails'));

// most is the limit of a message that every server has.
const most = 8000;

export function Conversation({ store, room }: { store: Store; room: RoomView }) {
  const talk = useMemo(() => new Talk(store, room.room_id, linked() > 0), [store, room.room_id]);
  const input = useRef<HTMLTextAreaElement>(null);
  const facts = useFacts(store, room);
  const line = useLine(store);
  useEffect(() => () => talk.close(), [talk]);
  useSpoken(store, room);
  useUndone(store, room.room_id);
  useJump(talk);
  const people = facts?.people;
  useLayoutEffect(() => {
    if (people) talk.people.value = people;
  }, [talk, people]);
  const members = facts && count(facts.members, 'member');
  const disappear = facts && facts.keeps > 0 && t('talk.disappear', { span: spanOf(facts.keeps) });
  return (
    <div class="room" onKeyDown={(e) => typeOn(e, input.current)}>
      <Screen
        title={room.name}
        above="/ui/"
        sub={line || [members, disappear, room.topic].filter(Boolean).join(' · ') || ' '}
        fixed
        actions={<Button kind="quiet" icon="people" label="Members and settings" onClick={() => go(`/ui/rooms/${room.room_id}/members`)} />}
        foot={
          <>
            <ReceiptHint talk={talk} />
            <Composer talk={talk} name={room.name} limit={facts?.limit ?? most} input={input} onUp={() => talk.editLast() || toMessages()} />
          </>
        }
      >
        <Timeline talk={talk} name={room.name} unread={room.unread} onLeave={() => input.current?.focus()} />
      </Screen>
      <MessageMenu talk={talk} />
      {talk.picking.value && <Picker talk={talk} message={talk.picking.value} />}
      {talk.reminding.value && <Remind roomId={talk.roomId} msgId={talk.reminding.value.msg_id} onClose={() => (talk.reminding.value = null)} />}
      {talk.forwarding.value && <Forward message={talk.forwarding.value} onClose={() => (talk.forwarding.value = null)} />}
      {talk.polling.value !== null && <NewPoll talk={talk} />}
      {talk.versions.value && <Versions talk={talk} message={talk.versions.value} />}
      {talk.reading.value && <Readers talk={talk} message={talk.reading.value} />}
      {talk.details.value && <MessageDetails talk={talk} message={talk.details.value} />}
    </div>
  );
}

// typeOn has what one types anywhere in the room go where one writes.
function typeOn(e: TargetedKeyboardEvent<HTMLElement>, input: HTMLTextAreaElement | null) {
  if (e.key.length !== 1 || e.key === ' ' || e.ctrlKey || e.metaKey || e.altKey) return;
  if ((e.target as HTMLElement).matches('h1, .virtual, .bubble')) input?.focus();
}

const toMessages = () => lastBubble()?.focus();

const lastBubble = () => [...document.querySelectorAll<HTMLElement>('.timeline .bubble')].at(-1);
