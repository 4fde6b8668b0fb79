// What reaches one, where, and when not. All but the first switch is the person's, on every
// device.

import { at, del } from '../../api';
import { isMuted, reached, setRoom, take } from '../../notify/mine';
import { store } from '../../store';
import { bare } from '../../text';
import type { Reached, RoomPreference } from '../../types';
import { Await } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Screen, Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { useLoad } from '../../ui/useLoad';
import { rich, t } from '../../words';
import { Disturb } from './Disturb';
import { Keywords } from './Keywords';
import { Mail } from './Mail';
import { Quiet } from './Quiet';
import { ThisDevice } from './ThisDevice';
import './settings.css';

export default function Notifications() {
  const changes = store.value?.person.value ?? 0;
  const loaded = useLoad(async (signal) => take(await reached(signal)), [changes]);
  return (
    <Screen title={t('notify.title')} above="/ui/settings">
      <Await of={loaded}>
        {(mine) => (
          <>
            <ThisDevice devices={mine.devices} onChanged={loaded.reload} />
            <Devices of={mine} onChanged={loaded.reload} />
            <Mail of={mine} onChanged={loaded.reload} />
            <Disturb of={mine} onChanged={loaded.reload} />
            <Quiet key={JSON.stringify(mine.preferences.quiet)} of={mine.preferences.quiet} onChanged={loaded.reload} />
            <Keywords of={mine.preferences.keywords ?? []} onChanged={loaded.reload} />
            <Rooms of={mine.preferences.rooms ?? []} onChanged={loaded.reload} />
            <Reminders of={mine} onChanged={loaded.reload} />
          </>
        )}
      </Await>
    </Screen>
  );
}

interface Part {
  of: Reached;
  onChanged: () => void;
}

function Devices({ of: { devices }, onChanged }: Part) {
  if (devices.length === 0) return null;
  return (
    <Section title={t('notify.devices')}>
      <List label={t('notify.devices')}>
        {devices.map((d) => (
          <Row
            key={d.device_id}
            start={<Icon name="device" />}
            title={d.name}
            sub={rich('notify.since', { time: <Time at={d.added_at} as="ago" /> })}
            end={<Button kind="quiet" icon="trash" label={t('notify.remove', { name: d.name })} onClick={() => void del(at`/api/me/devices/${d.device_id}`).then(onChanged, failed)} />}
          />
        ))}
      </List>
    </Section>
  );
}

// Rooms are those of which one wants something else than of others.
function Rooms({ of, onChanged }: { of: readonly RoomPreference[]; onChanged: () => void }) {
  const other = of.filter(({ room_id, level }) => level || isMuted(room_id));
  return (
    <Section title={t('notify.rooms')}>
      <p class="hint">{t('notify.rooms.hint')}</p>
      {other.length > 0 && (
        <List label={t('notify.rooms')}>
          {other.map(({ room_id, level }) => {
            const name = store.value?.rooms.get(room_id)?.name ?? bare(room_id);
            const said = [level && t(`level.${level}`), isMuted(room_id) && t('rooms.muted')].filter(Boolean).join(' · ');
            return (
              <Row
                key={room_id}
                to={`/ui/rooms/${room_id}/members`}
                start={<Icon name="room" />}
                title={name}
                sub={said}
                end={<Button kind="quiet" icon="close" label={t('notify.usual', { name })} onClick={() => void setRoom(room_id, { level: '', mute_s: 0 }).then(onChanged, failed)} />}
              />
            );
          })}
        </List>
      )}
    </Section>
  );
}

function Reminders({ of: { reminders }, onChanged }: Part) {
  if (reminders.length === 0) return null;
  return (
    <Section title={t('notify.reminders')}>
      <List label={t('notify.reminders')}>
        {reminders.map((r) => (
          <Row
            key={r.reminder_id}
            to={`/ui/rooms/${r.room_id}`}
            start={<Icon name="clock" />}
            title={r.note || (store.value?.rooms.get(r.room_id)?.name ?? bare(r.room_id))}
            sub={rich(r.due ? 'notify.due' : 'notify.at', { time: <Time at={r.at} as={r.due ? 'ago' : 'end'} /> })}
            end={<Button kind="quiet" icon="trash" label={t('notify.reminder.remove')} onClick={() => void del(at`/api/me/reminders/${r.reminder_id}`).then(onChanged, failed)} />}
          />
        ))}
      </List>
    </Section>
  );
}
