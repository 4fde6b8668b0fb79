// Who is in a room, and its rules. Owners change both.

import { at, del, get, patch, post } from '../api';
import { go } from '../router';
import type { ScreenProps } from '../routes';
import { me } from '../session';
import { store } from '../store';
import { membersOf } from '../store/shelf';
import { bare, count, nameOf } from '../text';
import type { Member, Role, Room } from '../types';
import { Avatar } from '../ui/Avatar';
import { Badge } from '../ui/Bits';
import { Button } from '../ui/Button';
import { ask } from '../ui/Dialog';
import { Failed } from '../ui/Empty';
import { Menu } from '../ui/Menu';
import { List, Row } from '../ui/Row';
import { Screen, Section } from '../ui/Screen';
import { Spinner } from '../ui/Spinner';
import { failed } from '../ui/Toast';
import { Since, useKept } from './kept';
import { AddMember } from './room/AddMember';
import { NotIn } from './room/NotIn';
import { Policy } from './room/Policy';

export default function RoomMembers({ params }: ScreenProps) {
  const id = params.id!;
  const { data, problem, since, reload } = useKept(membersOf(id), (signal) => read(id, signal));
  const mine = data?.members.find((member) => member.user_id === me.value?.identity.user_id);
  const owner = mine?.role === 'owner';
  const act = (work: Promise<unknown>) => work.then(reload, failed);
  const lost = mine && store.value?.synced.value && !store.value.rooms.get(id)?.member;
  return (
    <Screen title="Members" above={`/ui/rooms/${id}`} sub={data?.room.name ?? store.value?.rooms.get(id)?.name ?? bare(id)}>
      {!data && (problem ? <Failed problem={problem} onRetry={reload} /> : <Spinner />)}
      {lost && <NotIn />}
      {data && !lost && (
        <>
          <Since at={since} />
          {owner && <AddMember roomId={id} members={data.members} onAdded={reload} />}
          <Section title={count(data.members.length, 'member')}>
            <List label="Members">
              {data.members.map((member) => (
                <Entry key={member.user_id} member={member} me={member === mine} end={owner && member !== mine && <Menu label={`Change ${nameOf(member)}`} items={choices(data.room, member, act)} />} />
              ))}
            </List>
          </Section>
          <Policy room={data.room} owner={owner} onChanged={reload} />
          {mine && (
            <Section title="Leave">
              <Button icon="signout" onClick={() => void leave(data.room)}>
                Leave the room
              </Button>
            </Section>
          )}
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

function Entry({ member, me, end }: { member: Member; me: boolean; end: false | preact.JSX.Element }) {
  const name = nameOf(member);
  return (
    <Row
      start={<Avatar id={member.user_id} name={name} icon={member.is_service ? 'tool' : undefined} />}
      title={me ? `${name} (you)` : name}
      sub={member.email ?? member.user_id}
      meta={
        <>
          {member.is_service && <Badge>agent</Badge>} {member.role === 'owner' && <Badge kind="accent">owner</Badge>}
        </>
      }
      end={end || undefined}
    />
  );
}

function choices(room: Room, member: Member, act: (work: Promise<unknown>) => void) {
  const url = at`/api/rooms/${room.room_id}/members/${member.user_id}`;
  const [other, label]: [Role, string] = member.role === 'owner' ? ['member', 'Take ownership away'] : ['owner', 'Make an owner'];
  return [
    { label, icon: 'key' as const, onSelect: () => act(patch(url, { role: other })) },
    { label: 'Remove from the room', icon: 'trash' as const, danger: true, onSelect: () => void remove(room, member, url, act) },
  ];
}

async function remove(room: Room, member: Member, url: string, act: (work: Promise<unknown>) => void) {
  const text = `${nameOf(member)} can no longer read or write in “${room.name}”. What they wrote stays.`;
  if (await ask({ title: 'Remove from the room?', text, action: 'Remove', danger: true })) act(del(url));
}

async function leave(room: Room) {
  const back = room.policy.join === 'tenant' ? 'You may come back.' : 'To come back, an owner has to add you.';
  if (!(await ask({ title: `Leave “${room.name}”?`, text: back, action: 'Leave', danger: true }))) return;
  try {
    await post(at`/api/rooms/${room.room_id}/leave`);
    await store.value?.refresh();
    go('/ui/', { replace: true });
  } catch (problem) {
    failed(problem);
  }
}
