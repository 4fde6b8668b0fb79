// What "More" leads to, in its order: the screens that aren't in the bar.

import { computed } from '@preact/signals';
import { isOwner } from './session';
import type { IconName } from './ui/Icon';

interface Entry {
  to: string; // a pattern of routes.tsx
  label: string;
  icon: IconName;
  owner?: boolean; // for owners alone
}

const all: Entry[] = [
  { to: '/ui/tools', label: 'Tool calls', icon: 'tool' },
  { to: '/ui/members', label: 'Members', icon: 'people' },
  { to: '/ui/servers', label: 'Tool servers', icon: 'server' },
  { to: '/ui/budget', label: 'Budget for models', icon: 'budget' },
  { to: '/ui/agents', label: 'Agents', icon: 'key' },
  { to: '/ui/tenant', label: 'Tenant', icon: 'lock', owner: true },
  { to: '/ui/settings', label: 'Settings', icon: 'settings' },
];

// entries are those for who is signed in.
export const entries = computed(() => all.filter(({ owner }) => !owner || isOwner.value));
