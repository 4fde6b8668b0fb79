import { bare } from '../text';
import { entries } from '../menu';
import { place } from '../router';
import { me } from '../session';
import { Avatar } from '../ui/Avatar';
import { Icon } from '../ui/Icon';
import { List, Row } from '../ui/Row';
import { Screen } from '../ui/Screen';
import { nameFor } from './Person';
import { leave } from './wayback';
import { t } from '../words';

// More is who is signed in, and the way to everything that isn't in the bar.
export default function More() {
  const who = me.value;
  if (!who) return null;
  const name = nameFor(who.identity.user_id);
  return (
    <Screen title={t('section.more')}>
      <List label={t('section.more')}>
        <Row
          start={<Avatar id={who.identity.user_id} name={name} />}
          title={name}
          sub={`${who.identity.email ?? bare(who.identity.user_id)} · ${bare(who.tenant_id)}`}
        />
        {entries.value.map(({ to, label, icon }) => (
          <Row key={to} to={to} start={<Icon name={icon} />} title={t(label)} current={`${place.value.path}/`.startsWith(`${to}/`)} />
        ))}
        <Row onClick={() => void signOut()} start={<Icon name="signout" />} title={t('signout.action')} />
      </List>
    </Screen>
  );
}

const signOut = () => leave({ title: t('signout.title'), text: t('signout.text'), action: t('signout.action') });
