import { useState } from 'preact/hooks';
import { at, del, get, patch } from '../../api';
import { isPresent } from '../../presence';
import { place } from '../../router';
import { isOwner, me } from '../../session';
import { store } from '../../store';
import { nameOf } from '../../text';
import type { Member, ServiceToken } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Await } from '../../ui/Await';
import { Badge } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Menu, type MenuItem } from '../../ui/Menu';
import { List, Row } from '../../ui/Row';
import { Screen, Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { rich, t } from '../../words';
import { Since, useKept } from '../kept';
import { openDirect } from '../rooms/direct';
import { Invitations } from './Invitations';
import { Invite } from './Invite';
import { members } from './api';
import { Rename } from './Rename';

// Members is who belongs to the tenant, and for its owners who is invited.
export default function Members() {
  const list = useKept('members', members);
  const [renaming, setRenaming] = useState<Member | null>(null);
  const [inviting, setInviting] = useState(place.value.query.has('invite') && isOwner.value);
  const [changes, setChanges] = useState(0); // how often invitations changed
  return (
    <Screen
      title={t('members.title')}
      sub={list.data && t('person.members', { n: list.data.members.length })}
      above="/ui/more"
      actions={isOwner.value && <Button kind="quiet" icon="plus" label={t('members.invite')} onClick={() => setInviting(true)} />}
    >
      <Since at={list.since} />
      <Await of={list}>
        {({ members }) => (
          <Section title={t('members.here')}>
            <List label={t('members.title')}>
              {sorted(members).map((m) => (
                <One key={m.user_id} of={m} by={inviter(m, members)} onChange={list.reload} onRename={() => setRenaming(m)} lit={m.user_id === place.value.query.get('who')} />
              ))}
            </List>
          </Section>
        )}
      </Await>
      {isOwner.value && !list.problem && list.since === null && <Invitations key={changes} onInvite={() => setInviting(true)} />}
      {renaming && <Rename of={renaming} onClose={() => setRenaming(null)} onDone={list.reload} />}
      {inviting && <Invite onClose={() => setInviting(false)} onMade={() => setChanges((n) => n + 1)} />}
    </Screen>
  );
}

// sorted has people before agents, and owners first.
const sorted = (members: Member[]) => [...members].sort((a, b) => rank(a) - rank(b) || nameOf(a).localeCompare(nameOf(b)));
const rank = (m: Member) => (m.is_service ? 2 : 0) + (m.role === 'owner' ? 0 : 1);

// inviter is who invited a member, '' where nobody did. Owners look after what who has left
// leaves behind.
function inviter(of: Member, members: Member[]): string {
  if (!of.invited_by) return '';
  const by = members.find((m) => m.user_id === of.invited_by);
  if (by) return nameOf(by);
  const known = store.value?.people.byId.value.get(of.invited_by);
  return t('members.wholeft', { name: `${known ? nameOf(known) : of.invited_by}${known?.email ? ` (${known.email})` : ''}` });
}

function One({ of, by, onChange, onRename, lit }: { of: Member; by: string; onChange: () => void; onRename: () => void; lit: boolean }) {
  const self = of.user_id === me.value?.identity.user_id;
  const message: MenuItem = { label: t('members.message'), icon: 'room', onSelect: () => void openDirect([of.user_id]).catch(failed) };
  const rename: MenuItem = { label: t('members.rename'), icon: 'edit', onSelect: onRename };
  return (
    <Row
      lit={lit}
      start={<Avatar id={of.user_id} name={nameOf(of)} icon={of.is_service ? 'tool' : undefined} />}
      title={nameOf(of)}
      sub={of.is_service ? t('members.agent') : of.email}
      below={by ? <>{rich('members.invitedby', { name: <bdi>{by}</bdi> })}</> : undefined}
      meta={
        <>
          {self && <Badge>{t('members.you')}</Badge>} {isPresent(of.user_id) && <Badge kind="good">{t('members.online')}</Badge>} {of.unproven && <Badge kind="warn">{t('person.unproven')}</Badge>} {of.role === 'owner' && <Badge kind="accent">{t('members.owner')}</Badge>}
        </>
      }
      end={
        (

          <Menu
            label={t('members.menu', { name: nameOf(of) })}
            items={self ? [rename] : !isOwner.value ? [message] : [
              message,
              rename,
              of.role === 'owner'
                ? { label: t('members.demote'), icon: 'person', onSelect: () => void change(of, 'member', onChange) }
                : { label: t('members.promote'), icon: 'key', onSelect: () => void change(of, 'owner', onChange) },
              { label: t('members.remove'), icon: 'trash', danger: true, onSelect: () => void remove(of, onChange) },
            ]}
          />
        )
      }
    />
  );
}

// MemberChanged may name domains that nobody new joins by any more, and agents that ended.
interface MemberChanged {
  member: Member;
  unconfirmed_domains?: string[];
  ended_service_tokens?: ServiceToken[];
}

function warn({ unconfirmed_domains: domains, ended_service_tokens: ended }: MemberChanged) {
  if (domains) toast(t('members.domains', { domains: domains.join(', ') }), { sticky: true });
  if (ended) toast(t('members.ended', { names: ended.map((one) => one.name).join(', ') }), { sticky: true });
}

// agentsOf says which agents end when a member leaves, '' where there are none.
async function agentsOf(of: Member): Promise<string> {
  const { service_tokens } = await get<{ service_tokens: ServiceToken[] }>('/api/service-tokens');
  const names = service_tokens.filter((one) => !one.revoked_at && one.ends_with?.includes(of.user_id)).map((one) => one.name);
  return names.length ? ` ${t('members.remove.agents', { names: names.join(', ') })}` : '';
}

async function change(of: Member, role: Member['role'], onChange: () => void) {
  const sure = await ask({
    title: t(role === 'owner' ? 'members.promote.title' : 'members.demote.title', { name: nameOf(of) }),
    text: t(role === 'owner' ? 'members.promote.text' : 'members.demote.text'),
    action: t(role === 'owner' ? 'members.promote' : 'members.demote'),
  });
  if (!sure) return;
  await patch<MemberChanged>(at`/api/tenant/members/${of.user_id}`, { role }).then((answer) => {
    warn(answer);
    onChange();
  }, failed);
}

async function remove(of: Member, onChange: () => void) {
  const agents = await agentsOf(of).catch(() => ` ${t('members.remove.someagents')}`);
  const sure = await ask({
    title: t('members.remove.title', { name: nameOf(of) }),
    text: t('members.remove.text') + agents,
    action: t('members.remove'),
    danger: true,
  });
  if (!sure) return;
  try {
    const answer = await del<MemberChanged>(at`/api/tenant/members/${of.user_id}`);
    toast(t('members.removed', { name: nameOf(of) }));
    warn(answer);
    void store.value?.people.refresh();
    onChange();
  } catch (problem) {
    failed(problem);
  }
}
