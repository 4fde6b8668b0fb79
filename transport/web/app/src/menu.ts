// What "More" leads to, in its order: the screens that aren't in the bar.

import { computed } from '@preact/signals';
import { isOwner } from './session';
import type { IconName } from './ui/Icon';
import type { Key } from './words';

interface Entry {
  to: string; // a pattern of routes.tsx
  label: Key;
  icon: IconName;
  owner?: boolean; // for owners alone
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

// entries are those for who is signed in.
export const entries = computed(() => all.filter(({ owner }) => !owner || isOwner.value));
