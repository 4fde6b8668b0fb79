// Who is in a room or a workspace. Owners add others, change what they are, and take them
// out; everybody may leave.

import { at, del, patch, post } from '../../api';
import { isPresent } from '../../presence';
import { nameOf } from '../../text';
import type { Member, Role } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Badge } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Menu } from '../../ui/Menu';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { t } from '../../words';
import { openDirect } from '../rooms/direct';
import { AddMember } from './AddMember';
import { myself, type Of } from './of';

export function Inside({ of, members, onChanged }: { of: Of; members: Member[]; onChanged: () => void }) {
  const mine = myself(members);
  const role = of.closed ? undefined : mine?.role;
  const owner = role === 'owner';
  const act = (work: Promise<unknown>) => work.then(onChanged, failed);
  return (
    <>
      {owner && <AddMember of={of} members={members} onAdded={onChanged} />}
      <Section title={t('person.members', { n: members.length })}>
        <List label={t('members.title')}>
          {members.map((member) => (
            <Entry key={member.user_id} member={member} me={member === mine} end={member !== mine && <What member={member} more={owner ? choices(of, member, act) : role === 'moderator' && member.role === 'member' ? [taking(of, member, act)] : []} />} />
          ))}
        </List>
      </Section>
    </>
  );
}

function Entry({ member, me, end }: { member: Member; me: boolean; end: false | preact.JSX.Element }) {
  const name = nameOf(member);
  return (
    <Row
      start={<Avatar id={member.user_id} name={name} icon={member.is_service ? 'tool' : undefined} />}
      title={name}
      sub={member.is_service ? t('members.agent') : (member.email ?? member.user_id)}
      meta={
        <>
          {me && <Badge>{t('members.you')}</Badge>} {isPresent(member.user_id) && <Badge kind="good">{t('members.online')}</Badge>} {member.is_service && <Badge>{t('person.agent')}</Badge>} {member.unproven && <Badge kind="warn">{t('person.unproven')}</Badge>} {member.role === 'owner' && <Badge kind="accent">{t('members.owner')}</Badge>} {member.role === 'moderator' && <Badge kind="accent">{t('inside.is.moderator')}</Badge>}
        </>
      }
      end={end || undefined}
    />
  );
}

// What is what one can do with another member: who may change nothing of them can write to them.
function What({ member, more }: { member: Member; more: ReturnType<typeof choices> }) {
  const write = () => void openDirect([member.user_id]).catch(failed);
  if (more.length === 0) return <Button kind="quiet" icon="room" label={t('members.message.to', { name: nameOf(member) })} onClick={write} />;
  return <Menu label={t('inside.change', { name: nameOf(member) })} items={[{ label: t('members.message'), icon: 'room', onSelect: write }, ...more]} />;
}

function choices(of: Of, member: Member, act: (work: Promise<unknown>) => void) {
  const url = of.url + at`/members/${member.user_id}`;
  const roles: readonly Role[] = of.what === 'room' ? ['owner', 'moderator', 'member'] : ['owner', 'member'];
  const label = (role: Role) => t(role === 'owner' ? 'members.promote' : role === 'moderator' ? 'inside.moderator' : member.role === 'owner' ? 'inside.demote' : 'members.demote');
  return [
    ...roles.filter((role) => role !== member.role).map((role) => ({ label: label(role), icon: 'key' as const, onSelect: () => act(patch(url, { role })) })),
    taking(of, member, act),
  ];
}

const taking = (of: Of, member: Member, act: (work: Promise<unknown>) => void) => ({
  label: t('inside.remove', { what: of.what }), icon: 'trash' as const, danger: true, onSelect: () => void remove(of, member, of.url + at`/members/${member.user_id}`, act),
});

async function remove(of: Of, member: Member, url: string, act: (work: Promise<unknown>) => void) {
  const text = t('inside.remove.text', { name: nameOf(member), place: of.name });
  if (await ask({ title: t('inside.remove.title', { what: of.what }), text, action: t('members.remove'), danger: true })) act(del(url));
}

// Leave is the way out. back says how one comes in again.
export function Leave({ of, back, onLeft }: { of: Of; back: string; onLeft: () => unknown }) {
  const leave = async () => {
    if (!(await ask({ title: t('inside.leave.title', { place: of.name }), text: back, action: t('inside.leave'), danger: true }))) return;
    try {
      await post(`${of.url}/leave`);
      await onLeft();
    } catch (problem) {
      failed(problem);
    }
  };
  return (
    <Section title={t('inside.leave')}>
      <Button icon="signout" onClick={() => void leave()}>
        {t('inside.leave.action', { what: of.what })}
      </Button>
    </Section>
  );
}
