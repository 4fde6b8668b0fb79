// What "More" and the settings lead to, in their order: the screens that aren't in the bar.

import { computed } from '@preact/signals';
import { isOperator, isOwner } from './session';
import type { IconName } from './ui/Icon';
import type { Key } from './words';

interface Entry {
  to: string; // a pattern of routes.tsx
  label: Key;
  icon: IconName;
  owner?: boolean; // for owners alone
  operator?: boolean; // for who runs the platform
}

const all: Entry[] = [
  { to: '/ui/scheduled', label: 'scheduled.title', icon: 'clock' },
  { to: '/ui/tools', label: 'menu.tools', icon: 'tool' },
  { to: '/ui/members', label: 'menu.members', icon: 'people' },
  { to: '/ui/servers', label: 'menu.servers', icon: 'server' },
  { to: '/ui/budget', label: 'menu.budget', icon: 'budget' },
  { to: '/ui/agents', label: 'menu.agents', icon: 'key' },
  { to: '/ui/tenant', label: 'menu.tenant', icon: 'lock', owner: true },
  { to: '/ui/settings', label: 'menu.settings', icon: 'settings' },
];

// ofSettings are what the settings lead to, and the palette.
export const ofSettings: readonly Entry[] = [
  { to: '/ui/settings/wallets', label: 'wallets.title', icon: 'wallet' },
  { to: '/ui/settings/defaults', label: 'defaults.title', icon: 'room', owner: true },
  { to: '/ui/settings/backup', label: 'backup.title', icon: 'save', operator: true },
  { to: '/ui/settings/cluster', label: 'cluster.title', icon: 'server', operator: true },
];

// isFor tells whether something is for who is signed in.
export const isFor = ({ owner, operator }: Pick<Entry, 'owner' | 'operator'>) => (!owner || isOwner.value) && (!operator || isOperator.value);

// entries is what "More" shows to the person who is signed in.
export const entries = computed(() => all.filter(isFor));
