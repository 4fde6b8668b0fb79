import { theme, type Theme } from '../../device';
import { Link } from '../../router';
import { isOwner, me } from '../../session';
import { bare, nameOf } from '../../text';
import { Avatar } from '../../ui/Avatar';
import { Facts } from '../../ui/Bits';
import { Choice } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { About } from './About';
import { Passkeys } from './Passkeys';
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
  if (!who) return null;
  const { identity } = who;
  return (
    <Screen title="Settings" above="/ui/more">
      <Section title="You">
        <div class="you">
          <Avatar id={identity.user_id} name={nameOf(identity)} size="large" />
          <div>
            <p class="name" dir="auto">
              {nameOf(identity)}
            </p>
            <p class="soft" dir="auto">
              {identity.email}
            </p>
          </div>
        </div>
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
      <Passkeys />
      <Sessions />
      {isOwner.value && (
        <Section title="Agents">
          <p>
            Agents sign in with tokens of their own. <Link to="/ui/agents">Connect an agent</Link>
          </p>
        </Section>
      )}
      <About />
    </Screen>
  );
}
