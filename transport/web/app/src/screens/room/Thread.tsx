// A thread: the message that began it, the answers to it, and where one answers. All of it is made
// of what a room is made of.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ScreenProps } from '../../router';
import { store } from '../../store';
import type { RoomView } from '../../store/rooms';
import type { Store } from '../../store/sync';
import { ThreadWindow } from '../../store/thread';
import { Screen } from '../../ui/Screen';
import { Spinner } from '../../ui/Spinner';
import { t } from '../../words';
import { useJump } from '../rooms/jump';
import { NotIn } from './NotIn';
import { Talk } from './talk';
import { Talking } from './Talking';
import { Timeline } from './Timeline';
import { Write } from './Write';

export default function Thread({ params }: ScreenProps) {
  const [id, root] = [params.id!, params.message!];
  const now = store.value;
  const room = now?.rooms.get(id);
  if (now && room?.member) return <Open store={now} room={room} root={root} />;
  return (
    <Screen title={t('thread.title')} above={`/ui/rooms/${id}`}>
      {now?.synced.value ? <NotIn /> : <Spinner />}
    </Screen>
  );
}

function Open({ store, room: { room_id: id, name }, root }: { store: Store; room: RoomView; root: string }) {
  const talk = useMemo(() => new Talk(store, id, { root, window: store.follow(id, (env, history, room, onClose) => new ThreadWindow(env, id, root, history, room, onClose)) }), [store, id, root]);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => () => talk.close(), [talk]);
  useJump(talk);
  const field = t('thread.field');
  return (
    <Talking talk={talk} input={input}>
      <Screen title={t('thread.title')} above={`/ui/rooms/${id}`} sub={name} fixed foot={<Write talk={talk} label={field} placeholder={field} input={input} />}>
        <Timeline talk={talk} label={t('thread.title')} unread={0} onLeave={() => input.current?.focus()} />
      </Screen>
    </Talking>
  );
}
