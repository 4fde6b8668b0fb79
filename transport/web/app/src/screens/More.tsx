import { bare } from '../text';
import { place } from '../router';
import { under } from '../routes';
import { me } from '../session';
import { signOut } from '../store';
import { Avatar } from '../ui/Avatar';
import { ask } from '../ui/Dialog';
import { Icon } from '../ui/Icon';
import { List, Row } from '../ui/Row';
import { Screen } from '../ui/Screen';
import { failed } from '../ui/Toast';
import { nameFor } from './Person';
import { warning } from './wayback';

// More is who is signed in, and the way to everything that isn't in the bar.
export default function More() {
  const who = me.value;
  if (!who) return null;
  const name = nameFor(who.identity.user_id);
  return (
    <Screen title="More">
      <List label="More">
        <Row
          start={<Avatar id={who.identity.user_id} name={name} />}
          title={name}
          sub={`${who.identity.email ?? bare(who.identity.user_id)} · ${bare(who.tenant_id)}`}
        />
        {under.value.map(({ to, label, icon }) => (
          <Row key={to} to={to} start={<Icon name={icon} />} title={label} current={`${place.value.path}/`.startsWith(`${to}/`)} />
        ))}
        <Row onClick={leave} start={<Icon name="signout" />} title="Sign out" />
      </List>
    </Screen>
  );
}

async function leave() {
  const sure = await ask({
    title: 'Sign out?',
    text: `What this device keeps for reading without a network is deleted, and so is what wasn’t sent yet.${await warning()}`,
    action: 'Sign out',
  });
  if (sure) await signOut().catch(failed);
}
