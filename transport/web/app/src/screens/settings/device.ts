import { t } from '../../words';

// deviceName is what one would call this device: "iPhone", "Safari on Mac". A guess
// that a person may change.
export function deviceName(agent = navigator.userAgent): string {
  const machine = first(agent, [['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Android', 'Android'], ['Mac OS X', 'Mac'], ['Windows', 'Windows'], ['CrOS', 'Chromebook'], ['Linux', 'Linux']]);
  if (machine === 'iPhone' || machine === 'iPad') return machine;
  const browser = first(agent, [['Edg/', 'Edge'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']]);
  return (browser && machine ? t('passkeys.on', { browser, machine }) : (browser ?? machine)) || t('passkeys.device');
}

const first = (agent: string, names: [mark: string, name: string][]) => names.find(([mark]) => agent.includes(mark))?.[1];
