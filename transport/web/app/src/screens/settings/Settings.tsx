import { useState } from 'preact/hooks';
import { Link } from '../../router';
import { isOwner, me } from '../../session';
import { bare } from '../../text';
import { Avatar } from '../../ui/Avatar';
import { Facts } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Screen, Section } from '../../ui/Screen';
import { Rename } from '../members/Rename';
import { nameFor } from '../Person';
import { t } from '../../words';
import { About } from './About';
import { Appearance } from './Appearance';
import { Further } from './Further';
import { Leave } from './Leave';
import { Passkeys } from './Passkeys';
import { Prove } from './Prove';
import { Sessions } from './Sessions';
import { YourData } from './YourData';
import './settings.css';

// Settings is who one is, how one signs in, and how this device shows the app.
export default function Settings() {
  const who = me.value;
  const [renaming, setRenaming] = useState(false);
  if (!who) return null;
  const { identity } = who;
  const name = nameFor(identity.user_id);
  return (
    <Screen title={t('settings.title')} above="/ui/more">
      <Section title={t('settings.you')}>
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
          <Button kind="quiet" icon="edit" label={t('settings.you.rename')} onClick={() => setRenaming(true)} />
        </div>
        {renaming && <Rename of={{ ...identity, name: who.name }} onClose={() => setRenaming(false)} />}
        <Facts
          of={[
            [t('settings.you.tenant'), bare(who.tenant_id)],
            [t('settings.you.are'), t(who.role === 'owner' ? 'settings.you.owner' : 'settings.you.member')],
            ...(identity.groups.length > 0 ? [[t('settings.you.groups'), identity.groups.join(', ')] as const] : []),
            [t('settings.you.id'), <code>{identity.user_id}</code>],
          ]}
        />
      </Section>
      <Appearance />
      {identity.unproven && <Prove email={identity.email ?? ''} />}
      <Further /> {/* above what is still to come: it stays where a finger finds it */}
      <Passkeys />
      <Sessions />
      <Section title={t('notify.title')}>
        <p>
          {t('notify.text')} <Link to="/ui/settings/notifications">{t('notify.to')}</Link>
        </p>
      </Section>
      <Section title={t('settings.agents')}>
        <p>
          {t('settings.agents.text')} <Link to="/ui/agents">{t(isOwner.value ? 'settings.agents.all' : 'settings.agents.own')}</Link>
        </p>
      </Section>
      <YourData /> {/* before the way out */}
      <Leave />
      <About />
    </Screen>
  );
}
