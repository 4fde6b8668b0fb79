// All screens. A new one is a file in screens/ with a default export, and one
// entry here; where "More" leads to it, one in menu.ts.

import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { match, place, type Params, type ScreenProps } from './router';
import Room from './screens/Room';
import Rooms from './screens/Rooms';
import type { IconName } from './ui/Icon';
import { lazy } from './ui/lazy';
import type { Key } from './words';

type Component = ComponentType<ScreenProps>;

interface Section {
  label: Key;
  icon: IconName;
  to: string;
  // list stands at the side of all screens of the section where there is room. On a
  // phone it is a screen of its own, at to.
  list?: Component;
  // hint stands beside the list while nothing of it is open.
  hint: Key;
}

// sections are what the bar at the bottom or side leads to.
const all = {
  rooms: { label: 'section.rooms', icon: 'room', to: '/ui/', list: Rooms, hint: 'section.rooms.hint' },
  documents: { label: 'section.documents', icon: 'document', to: '/ui/workspaces', list: lazy(() => import('./screens/documents/Workspaces')), hint: 'section.documents.hint' },
  ledger: { label: 'section.ledger', icon: 'ledger', to: '/ui/ledger', list: lazy(() => import('./screens/ledger/Ledger')), hint: 'section.ledger.hint' },
  more: { label: 'section.more', icon: 'more', to: '/ui/more', list: lazy(() => import('./screens/More')), hint: 'section.more.hint' },
} satisfies Record<string, Section>;

export const sections: Record<keyof typeof all, Section> = all;

export interface Route {
  pattern: string;
  section: keyof typeof sections;
  // screen is missing where the section's list is all there is.
  screen?: Component;
  // detail stands at the side of the screen, which is where the path above it leads.
  detail?: Component;
  above?: string;
}

// pathOf is where a route's screen is: its own path, or that above its detail.
export const pathOf = ({ pattern, above }: Route, params: Params) => (above ?? pattern).replace(/:(\w+)/g, (_, name: string) => params[name]!);

const Documents = lazy(() => import('./screens/documents/Documents'));

export const routes: Route[] = [
  { pattern: '/ui/', section: 'rooms' },
  { pattern: '/ui/rooms/:id', section: 'rooms', screen: Room },
  { pattern: '/ui/rooms/:id/members', section: 'rooms', screen: Room, detail: lazy(() => import('./screens/RoomMembers')), above: '/ui/rooms/:id' },
  { pattern: '/ui/rooms/:id/thread/:message', section: 'rooms', screen: Room, detail: lazy(() => import('./screens/room/Thread')), above: '/ui/rooms/:id' },
  { pattern: '/ui/new-room', section: 'rooms', screen: lazy(() => import('./screens/NewRoom')) },
  { pattern: '/ui/search', section: 'rooms', screen: lazy(() => import('./screens/search/Search')) },
  { pattern: '/ui/new-message', section: 'rooms', screen: lazy(() => import('./screens/rooms/NewMessage')) },
  { pattern: '/ui/directory', section: 'rooms', screen: lazy(() => import('./screens/rooms/Directory')) },
  { pattern: '/ui/workspaces', section: 'documents' },
  { pattern: '/ui/workspaces/:w', section: 'documents', screen: Documents },
  { pattern: '/ui/workspaces/:w/new', section: 'documents', screen: lazy(() => import('./screens/documents/NewDocument')) },
  { pattern: '/ui/workspaces/:w/members', section: 'documents', screen: Documents, detail: lazy(() => import('./screens/documents/WorkspaceMembers')), above: '/ui/workspaces/:w' },
  { pattern: '/ui/workspaces/:w/:d', section: 'documents', screen: lazy(() => import('./screens/documents/Document')) },
  { pattern: '/ui/workspaces/:w/:d/versions', section: 'documents', screen: lazy(() => import('./screens/documents/Versions')) },
  { pattern: '/ui/ledger', section: 'ledger' },
  { pattern: '/ui/ledger/verify', section: 'ledger', screen: lazy(() => import('./screens/ledger/Verify')) },
  { pattern: '/ui/ledger/:seq', section: 'ledger', screen: lazy(() => import('./screens/ledger/Atom')) },
  { pattern: '/ui/scheduled', section: 'more', screen: lazy(() => import('./screens/scheduled/Scheduled')) },
  { pattern: '/ui/tools', section: 'more', screen: lazy(() => import('./screens/tools/ToolCalls')) },
  { pattern: '/ui/members', section: 'more', screen: lazy(() => import('./screens/members/Members')) },
  { pattern: '/ui/servers', section: 'more', screen: lazy(() => import('./screens/servers/Servers')) },
  { pattern: '/ui/new-server', section: 'more', screen: lazy(() => import('./screens/servers/AddServer')) },
  { pattern: '/ui/new-program', section: 'more', screen: lazy(() => import('./screens/servers/AddProgram')) },
  { pattern: '/ui/find-servers', section: 'more', screen: lazy(() => import('./screens/servers/Discover')) },
  { pattern: '/ui/servers/:id', section: 'more', screen: lazy(() => import('./screens/servers/Server')) },
  { pattern: '/ui/servers/:id/:tool', section: 'more', screen: lazy(() => import('./screens/servers/Tool')) },
  { pattern: '/ui/budget', section: 'more', screen: lazy(() => import('./screens/budget/Budget')) },
  { pattern: '/ui/agents', section: 'more', screen: lazy(() => import('./screens/agents/Agents')) },
  { pattern: '/ui/agents/:id', section: 'more', screen: lazy(() => import('./screens/agents/Agent')) },
  { pattern: '/ui/agreements/:id', section: 'more', screen: lazy(() => import('./screens/agreement/Agreement')) },
  { pattern: '/ui/tenant', section: 'more', screen: lazy(() => import('./screens/tenant/Tenant')) },
  { pattern: '/ui/settings', section: 'more', screen: lazy(() => import('./screens/settings/Settings')) },
  { pattern: '/ui/settings/notifications', section: 'more', screen: lazy(() => import('./screens/settings/Notifications')) },
  { pattern: '/ui/settings/wallets', section: 'more', screen: lazy(() => import('./screens/wallets/Wallets')) },
  { pattern: '/ui/settings/wallets/:id', section: 'more', screen: lazy(() => import('./screens/wallets/Wallet')) },
  { pattern: '/ui/settings/defaults', section: 'more', screen: lazy(() => import('./screens/tenant/Defaults')) },
  { pattern: '/ui/settings/backup', section: 'more', screen: lazy(() => import('./screens/operating/Backup')) },
  { pattern: '/ui/settings/cluster', section: 'more', screen: lazy(() => import('./screens/operating/Cluster')) },
  { pattern: '/ui/confirm', section: 'more', screen: lazy(() => import('./screens/ConfirmNow')) },
  { pattern: '/ui/confirmed', section: 'more', screen: lazy(() => import('./screens/Confirmed')) },
  { pattern: '/ui/more', section: 'more' },
];

// found is the route of where the app is, null where there is none.
export const found = computed<{ route: Route; params: Params } | null>(() => {
  for (const route of routes) {
    const params = match(route.pattern, place.value.path);
    if (params) return { route, params };
  }
  return null;
});
