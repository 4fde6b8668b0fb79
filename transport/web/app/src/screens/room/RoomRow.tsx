// A room in the list: its name, what was written last, when, and how much is unread.

import { store } from '../../store';
import type { RoomView } from '../../store/rooms';
import { oneLine } from '../../text';
import { Avatar } from '../../ui/Avatar';
import { Badge, Time } from '../../ui/Bits';
import { Icon } from '../../ui/Icon';
import { memo } from '../../ui/memo';
import { Row } from '../../ui/Row';
import { orLeft } from '../Person';
import { whoIs, wordsOf } from './who';

export const RoomRow = memo(function RoomRow({ room, current }: { room: RoomView; current: boolean }) {
  const { unread, last_message: last } = room;
  return (
    <Row
      to={`/ui/rooms/${room.room_id}`}
      current={current}
      start={<Avatar id={room.room_id} name={room.name} />}
      title={<span class={unread > 0 ? 'unread' : undefined}>{room.name}</span>}
      sub={room.member ? <Preview room={room} current={current} /> : 'Open to every member'}
      meta={
        <>
          {last && <Time at={last.sent_at} />}
          {unread > 0 && (
            <>
              {' '}
              <Badge kind="accent">{unread > 999 ? '999+' : unread}</Badge>
              <span class="hidden"> unread</span>
            </>
          )}
        </>
      }
    />
  );
});

// Preview is what one would want to know first: what isn't finished here, else the
// newest message.
function Preview({ room, current }: { room: RoomView; current: boolean }) {
  const out = store.value?.outbox.entries.value.filter((entry) => entry.room_id === room.room_id) ?? [];
  const lost = out.find((entry) => entry.state === 'failed');
  const newest = out.at(-1);
  if (lost) return <Special icon="warning" text={`Not sent: ${oneLine(lost.text.slice(0, 200))}`} kind="bad" />;
  if (room.draft?.text && !current) return <Special icon="edit" text={oneLine(room.draft.text.slice(0, 200))} kind="draft" />;
  if (newest) return <Special icon="clock" text={oneLine(newest.text.slice(0, 200))} />;
  const last = room.last_message;
  if (!last) return <>No messages yet</>;
  const words = oneLine(wordsOf(last).slice(0, 200));
  const who = whoIs(last.sender_id);
  if (last.type === 'system') return <>{words}</>;
  return (
    <>
      <bdi>{who.mine ? 'You' : who.name}</bdi>{orLeft(who.id)}: <bdi>{words}</bdi>
    </>
  );
}

function Special({ icon, text, kind }: { icon: 'warning' | 'edit' | 'clock'; text: string; kind?: 'bad' | 'draft' }) {
  return (
    <span class={['special', kind].filter(Boolean).join(' ')}>
      <Icon name={icon} size={16} /> {kind === 'draft' && <span class="hidden">Draft: </span>}
      <bdi>{text}</bdi>
    </span>
  );
}
