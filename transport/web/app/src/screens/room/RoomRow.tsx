// A room in the list: its name, what was written last, when, and how much is unread.

import { store } from '../../store';
import type { RoomView } from '../../store/rooms';
import { oneLine } from '../../text';
import { Avatar } from '../../ui/Avatar';
import { Badge, Time } from '../../ui/Bits';
import { Icon } from '../../ui/Icon';
import { memo } from '../../ui/memo';
import { Row } from '../../ui/Row';
import { rich, t, type Key } from '../../words';
import { isMuted } from '../../notify/mine';
import { Button } from '../../ui/Button';
import { orLeft } from '../Person';
import { asked } from '../rooms/asked';
import { whoIs, wordsOf } from './who';

export const RoomRow = memo(function RoomRow({ room, current }: { room: RoomView; current: boolean }) {
  const { unread, mentions, last_message: last } = room;
  const muted = isMuted(room.room_id);
  const name = room.name || t('rooms.direct'); // whom new ones are with the list says a moment later
  return (
    <Row
      within
      to={`/ui/rooms/${room.room_id}`}
      current={current}
      start={<Avatar id={room.room_id} name={name} />}
      title={<span class={muted ? 'muted' : unread > 0 ? 'unread' : undefined}>{name}</span>}
      end={room.member ? <Button kind="quiet" icon="more" label={t('rooms.menu', { name })} aria-haspopup="dialog" onClick={() => (asked.value = room.room_id)} /> : undefined}
      sub={room.member ? <Preview room={room} current={current} /> : t('rooms.open')}
      meta={
        <>
          {last && <Time at={last.sent_at} />}
          {muted && (
            <>
              <Icon name="mute" size={16} />
              <span class="hidden">{t('rooms.muted')}</span>
            </>
          )}
          {mentions > 0 ? <Count n={mentions} kind="mention" says="rooms.mentions" /> : unread > 0 && !muted && <Count n={unread} kind="accent" says="rooms.unread" />}
        </>
      }
    />
  );
});

// Count is how many messages are unread, or are for oneself.
function Count({ n, kind, says }: { n: number; kind: 'accent' | 'mention'; says: Key }) {
  return (
    <>
      <span aria-hidden="true">
        <Badge kind={kind}>{`${kind === 'mention' ? '@' : ''}${n > 999 ? '999+' : n}`}</Badge>
      </span>
      <span class="hidden"> {t(says, { n })}</span>
    </>
  );
}

// Preview is what one would want to know first: what isn't finished here, else the
// newest message.
function Preview({ room, current }: { room: RoomView; current: boolean }) {
  const out = store.value?.outbox.entries.value.filter((entry) => entry.room_id === room.room_id) ?? [];
  const lost = out.find((entry) => entry.state === 'failed');
  const newest = out.at(-1);
  if (lost) return <Special icon="warning" text={t('rooms.notsent', { text: oneLine(lost.text.slice(0, 200)) })} kind="bad" />;
  if (room.draft?.text && !current) return <Special icon="edit" text={oneLine(room.draft.text.slice(0, 200))} kind="draft" />;
  if (newest) return <Special icon="clock" text={oneLine(newest.text.slice(0, 200))} />;
  const last = room.last_message;
  if (!last) return <>{t('rooms.empty')}</>;
  const words = oneLine(wordsOf(last).slice(0, 200));
  const who = whoIs(last.sender_id);
  if (last.type === 'system') return <bdi>{words}</bdi>;
  const name = <><bdi>{who.mine ? t('person.you') : who.name}</bdi>{orLeft(who.id)}</>;
  return <>{rich('rooms.said', { who: name, text: <bdi>{words}</bdi> })}</>;
}

function Special({ icon, text, kind }: { icon: 'warning' | 'edit' | 'clock'; text: string; kind?: 'bad' | 'draft' }) {
  return (
    <span class={['special', kind].filter(Boolean).join(' ')}>
      <Icon name={icon} size={16} /> {kind === 'draft' && <span class="hidden">{t('rooms.draft')} </span>}
      <bdi>{text}</bdi>
    </span>
  );
}
