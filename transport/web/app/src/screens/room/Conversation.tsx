// A room that one is in: its name, its messages, and where one writes.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { go } from '../../router';
import type { RoomView } from '../../store/rooms';
import type { Store } from '../../store/sync';
import { Button } from '../../ui/Button';
import { CallButton } from './CallButton';
import { Screen } from '../../ui/Screen';
import { useJump } from '../rooms/jump';
import { useLine } from '../line';
import { useFacts } from './facts';
import { ReceiptHint } from './ReceiptHint';
import { spanOf } from './span';
import { useSpoken } from './spoken';
import { Talk } from './talk';
import { Talking } from './Talking';
import { useUndone } from './undone';
import { Timeline } from './Timeline';
import { Write } from './Write';
import { t } from '../../words';

export function Conversation({ store, room }: { store: Store; room: RoomView }) {
  const talk = useMemo(() => new Talk(store, room.room_id), [store, room.room_id]);
  const input = useRef<HTMLTextAreaElement>(null);
  const facts = useFacts(store, room, talk.window);
  const line = useLine(store);
  useEffect(() => () => talk.close(), [talk]);
  useSpoken(store, room);
  useUndone(store, room.room_id);
  useJump(talk);
  const members = facts && t('person.members', { n: facts.members });
  const disappear = facts && facts.keeps > 0 && t('talk.disappear', { span: spanOf(facts.keeps) });
  return (
    <Talking talk={talk} input={input}>
      <Screen
        title={room.name}
        above="/ui/"
        sub={line || [members, disappear, room.topic].filter(Boolean).join(' · ') || ' '}
        fixed
        actions={
          <>
            <CallButton talk={talk} />
            <Button kind="quiet" icon="people" label={t('rooms.details')} onClick={() => go(`/ui/rooms/${room.room_id}/members`)} />
          </>
        }
        foot={
          <>
            <ReceiptHint talk={talk} />
            <Write talk={talk} label={t('composer.to', { name: room.name })} placeholder={t('composer.message')} input={input} />
          </>
        }
      >
        <Timeline talk={talk} label={t('talk.log', { name: room.name })} unread={room.unread} onLeave={() => input.current?.focus()} />
      </Screen>
    </Talking>
  );
}
