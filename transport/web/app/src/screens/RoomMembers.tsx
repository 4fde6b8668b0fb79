// Who is in a room, and its rules. Owners change both.

import { at, get } from '../api';
import { go, type ScreenProps } from '../router';
import { store } from '../store';
import { membersOf } from '../store/shelf';
import { bare } from '../text';
import type { Member, Room } from '../types';
import { Failed } from '../ui/Empty';
import { Screen } from '../ui/Screen';
import { Spinner } from '../ui/Spinner';
import { Since, useKept } from './kept';
import { Way } from './agreement/Way';
import { Heir } from './members/Heir';
import { Inside, Leave, myself } from './members/Inside';
import type { Of } from './members/of';
import { About, Wanted } from './room/About';
import { NotIn } from './room/NotIn';
import { Pins } from './room/Pins';
import { Policy } from './room/Policy';
import { t } from '../words';

export default function RoomMembers({ params }: ScreenProps) {
  const id = params.id!;
  const { data, problem, since, reload } = useKept(membersOf(id), (signal) => read(id, signal));
  const mine = data && myself(data.members);
  const lost = mine && store.value?.synced.value && !store.value.rooms.get(id)?.member;
  return (
    <Screen title={t('roommembers.title')} above={`/ui/rooms/${id}`} sub={data?.room.name ?? store.value?.rooms.get(id)?.name ?? bare(id)}>
      {!data && (problem ? <Failed problem={problem} onRetry={reload} /> : <Spinner />)}
      {lost && <NotIn />}
      {data && !lost && (
        <>
          <Since at={since} />
          <About room={data.room} may={mine?.role === 'owner' || mine?.role === 'moderator'} onChanged={reload} />
          {mine && <Wanted room={data.room} />}
          {mine && <Pins roomId={id} />}
          <Inside of={ofRoom(data.room)} members={data.members} onChanged={reload} />
          <Policy room={data.room} owner={mine?.role === 'owner'} onChanged={reload} />
          <Heir of={ofRoom(data.room)} agreement={`a:room:${data.room.room_id}`} heir={data.room.heir} owner={mine?.role === 'owner' && since === null} onChanged={reload} />
          <Way to={`a:room:${data.room.room_id}`} />
          {mine && <Leave of={ofRoom(data.room)} back={t(data.room.policy.join === 'tenant' ? 'roommembers.back.tenant' : 'roommembers.back.invite')} onLeft={left} />}
        </>
      )}
    </Screen>
  );
}

async function read(id: string, signal: AbortSignal): Promise<{ room: Room; members: Member[] }> {
  const [{ room }, { members }] = await Promise.all([
    get<{ room: Room }>(at`/api/rooms/${id}`, { signal }),
    get<{ members: Member[] }>(at`/api/rooms/${id}/members`, { signal }),
  ]);
  return { room, members };
}

const ofRoom = (room: Room): Of => ({ what: 'room', name: room.name, url: at`/api/rooms/${room.room_id}` });

async function left() {
  await store.value?.refresh();
  go('/ui/', { replace: true });
}
