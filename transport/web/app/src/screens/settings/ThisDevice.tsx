// Whether notifications reach this browser. Asking the person for permission needs their tap.

import { useEffect, useState } from 'preact/hooks';
import { del, get, post } from '../../api';
import { possible, subscribe, unsubscribe, type Asks } from '../../notify/subscribe';
import type { Device } from '../../types';
import { Problem } from '../../ui/Await';
import { Check } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import { deviceName } from './device';

const ask: Asks = (method, path, body) => (method === 'GET' ? get(path) : method === 'DELETE' ? del(path) : post(path, body));

// kept is where this browser remembers which of the devices it is.
const kept = 'ubl.push';

export function ThisDevice({ devices, onChanged }: { devices: readonly Device[]; onChanged: () => void }) {
  const [id, setId] = useState(localStorage.getItem(kept) ?? '');
  const [refused, setRefused] = useState(possible() && Notification.permission === 'denied');
  const act = useAct();
  const on = devices.some((d) => d.device_id === id);
  useEffect(() => {
    if (id && !on) localStorage.removeItem(kept); // it was removed on another device
  }, [id, on]);
  const turn = (wanted: boolean) =>
    void act.run(async () => {
      if (!wanted) {
        await unsubscribe(ask, id);
        localStorage.removeItem(kept);
        setId('');
      } else {
        const made = await subscribe(ask, deviceName());
        setRefused(made === null);
        if (made === null) return;
        localStorage.setItem(kept, made);
        setId(made);
      }
      onChanged();
    });
  return (
    <Section title={t('notify.here')}>
      <div class="stack narrow">
        <Check label={t('notify.on')} hint={t(!possible() ? 'notify.impossible' : refused ? 'notify.refused' : 'notify.on.hint')} checked={on} disabled={!possible() || act.busy} onValue={turn} />
        <Problem of={act.problem} />
      </div>
    </Section>
  );
}
