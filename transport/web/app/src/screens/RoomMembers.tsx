// Who is in a room, and its rules. Owners change both, until the room is archived.

import { useEffect } from 'preact/hooks';
import { at } from '../api';
import { isArchived } from '../order';
import { go, type ScreenProps } from '../router';
import { store } from '../store';
import { membersOf } from '../store/shelf';
import { bare } from '../text';
import type { Room } from '../types';
import { Failed } from '../ui/Empty';
import { Screen } from '../ui/Screen';
import { Spinner } from '../ui/Spinner';
import { Since, useKept } from './kept';
import { Way } from './agreement/Way';
import { Heir } from './members/Heir';
import { Inside, Leave } from './members/Inside';
import { myself, type Of } from './members/of';
import { About, Wanted } from './room/About';
import { learn, readInside } from './room/facts';
import { NotIn } from './room/NotIn';
import { Pins } from './room/Pins';
import { Policy } from './room/Policy';
import { t } from '../words';

export default function RoomMembers({ params }: ScreenProps) {
  const id = params.id!;
  const { data, problem, since, reload } = useKept(membersOf(id), (signal) => readInside(id, signal));
  const mine = data && myself(data.members);
  const closed = data !== undefined && isArchived(data.room);
  const role = closed ? undefined : mine?.role; // by which one changes what is here
  useEffect(() => {
    if (data && mine) learn(data, mine.user_id);
  }, [data]);
  const lost = mine && store.value?.synced.value && !store.value.rooms.get(id)?.member;
  return (
    <Screen title={t('roommembers.title')} above={`/ui/rooms/${id}`} sub={data?.room.name ?? store.value?.rooms.get(id)?.name ?? bare(id)}>
      {!data && (problem ? <Failed problem={problem} onRetry={reload} /> : <Spinner />)}
      {lost && <NotIn />}
      {data && !lost && (
        <>
          <Since at={since} />
          {closed && <p class="notice">{t('readonly.archived')}</p>}
          <About room={data.room} may={role === 'owner' || role === 'moderator'} onChanged={reload} />
          {mine && <Wanted room={data.room} />}
          {mine && <Pins roomId={id} archived={closed} />}
          <Inside of={ofRoom(data.room)} members={data.members} onChanged={reload} />
          <Policy room={data.room} owner={role === 'owner'} onChanged={reload} />
          <Heir of={ofRoom(data.room)} agreement={`a:room:${data.room.room_id}`} heir={data.room.heir} owner={role === 'owner' && since === null} onChanged={reload} />
          <Way to={`a:room:${data.room.room_id}`} />
          {role && <Leave of={ofRoom(data.room)} back={t(data.room.policy.join === 'tenant' ? 'roommembers.back.tenant' : 'roommembers.back.invite')} onLeft={left} />}
        </>
      )}
    </Screen>
  );
}

const ofRoom = (room: Room): Of => ({ what: 'room', name: room.name, url: at`/api/rooms/${room.room_id}`, closed: isArchived(room) });

async function left() {
  await store.value?.refresh();
  go('/ui/', { replace: true });
}
