import { useState } from 'preact/hooks';
import { theme, type Theme } from '../../device';
import { Link } from '../../router';
import { isOwner, me } from '../../session';
import { bare } from '../../text';
import { Avatar } from '../../ui/Avatar';
import { Facts } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Choice } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { Rename } from '../members/Rename';
import { nameFor } from '../Person';
import { About } from './About';
import { Leave } from './Leave';
import { Passkeys } from './Passkeys';
import { Prove } from './Prove';
import { Sessions } from './Sessions';
import './settings.css';

const themes = [
  { value: 'auto', label: 'Automatic' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

// Settings is who one is, how one signs in, and how this device shows the app.
export default function Settings() {
  const who = me.value;
  const [renaming, setRenaming] = useState(false);
  if (!who) return null;
  const { identity } = who;
  const name = nameFor(identity.user_id);
  return (
    <Screen title="Settings" above="/ui/more">
      <Section title="You">
        <div class="you">
          <Avatar id={identity.user_id} name={name} size="large" />
          <div>
            <p class="name" dir="auto">
              {name}
            </p>
            <p class="soft" dir="auto">
              {identity.email}
            </p>
          </div>
          <Button kind="quiet" icon="edit" label="Change your name" onClick={() => setRenaming(true)} />
        </div>
        {renaming && <Rename of={{ ...identity, name: who.name }} onClose={() => setRenaming(false)} />}
        <Facts
          of={[
            ['Tenant', bare(who.tenant_id)],
            ['You are', who.role === 'owner' ? 'One of its owners' : 'A member'],
            ...(identity.groups.length > 0 ? [['Groups', identity.groups.join(', ')] as const] : []),
            ['Id', <code>{identity.user_id}</code>],
          ]}
        />
      </Section>
      <Section title="Appearance">
        <div class="narrow">
          <Choice<Theme> label="Theme" value={theme.value} options={themes} onValue={(value) => (theme.value = value)} />
        </div>
      </Section>
      {identity.unproven && <Prove email={identity.email ?? ''} />}
      <Passkeys />
      <Sessions />
      <Section title="Agents">
        <p>
          Agents sign in with tokens of their own, and do what you let them. <Link to="/ui/agents">{isOwner.value ? 'All agents' : 'Your agents'}</Link>
        </p>
      </Section>
      <Leave />
      <About />
    </Screen>
  );
}
