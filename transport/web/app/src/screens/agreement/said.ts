// said.ts says in words what the terms of an Agreement are.

import type { Limit, Permit, Terms } from '../../types';
import { bytes, count, number } from '../../text';

// parts are what acts are about, by the longest name that theirs begin with. What isn't here
// stays as it is.
const parts: Record<string, string> = {
  '*': 'everything',
  'messenger.*': 'read and write messages',
  'messenger.send': 'write messages',
  'messenger.history': 'read messages',
  'room.get': 'see the room’s rules',
  'room.join': 'join by themselves',
  'room.create': 'make rooms',
  'room.invite': 'add members',
  'room.remove': 'remove members',
  'room.update': 'change the room’s rules',
  'room.*': 'look after members and rules',
  'container.get': 'look inside',
  'container.create': 'make containers',
  'container.transfer': 'carry things out',
  'container.receive': 'bring things in',
  'container.join': 'join by working here',
  'container.*': 'look after members',
  'office.*': 'read and write documents',
  'office.workspace.*': 'make workspaces',
  'office.document.get': 'read documents',
  'office.document.list': 'list documents',
  'office.document.versions': 'see earlier versions',
  'office.document.search': 'search documents',
  'agreement.*': 'change, end and pass on this Agreement',
  'tenant.join': 'join by their mail address',
  'tenant.*': 'look after members, invitations and domains',
  'token.*': 'make agents',
  'tool.*': 'say who may use tools',
  'kind.*': 'write kinds of containers',
  'credits.*': 'make credits',
  'platform.*': 'end others’ sessions',
  'passkey.*': 'remove others’ passkeys',
  'messenger.react': 'react to messages',
  'messenger.pin': 'pin messages',
  'messenger.poll.create': 'ask in polls',
  'messenger.form.create': 'ask with forms',
  'messenger.call.begin': 'begin calls',
  'room.describe': 'change the room’s name and topic',
  'container.invite': 'add members',
  'container.remove': 'remove members',
  'office.document.create': 'write new documents',
  'office.document.update': 'change documents',
  'office.document.delete': 'delete documents',
  'office.document.publish': 'publish documents from a source',
  'office.file.put': 'add files',
  'office.file.remove': 'remove files',
  'tenant.invitation.*': 'invite people',
  'portal.*': 'use and look after tool servers, and set the budget',
  'portal.call': 'use tools of other servers',
  'portal.server.connect': 'sign in to tool servers',
  'office.tool.call': 'use tools by the workspace',
  'webhook.*': 'make webhooks',
  'person.*': 'set reminders, schedule messages and be notified on devices',
  'person.reminder.add': 'set reminders',
  'person.scheduled.*': 'schedule messages',
  'person.device.*': 'be notified on devices',
};

// acts says what acts of a name do.
export const acts = (did: string) => parts[did] ?? did;

// whom says to whom a permit is.
export function whom(to: string, name: (id: string) => string): string {
  switch (to) {
    case 'owners':
      return 'Owners';
    case 'entries':
      return 'Members';
    case 'tenant':
      return 'Everybody in the tenant';
    case 'anyone':
      return 'Anyone, without signing in';
  }
  return to.startsWith('group:') ? `Members of the group ${to.slice('group:'.length)}` : name(to);
}

// permits say by whom what is permitted, each of them once, in the order of the terms.
export function permits(list: readonly Permit[], name: (id: string) => string): [string, string][] {
  const by = new Map<string, string[]>();
  for (const { did, to } of list) {
    for (const one of to) by.set(whom(one, name), [...(by.get(whom(one, name)) ?? []), acts(did)]);
  }
  return [...by].map(([who, may]) => [who, may.join(', ')]);
}

// limit says a bound.
export function limit({ did, per_minute: often, together, bytes: most }: Limit): string {
  const bounds = [often && `${number(often)} a minute ${together ? 'of all together' : 'of each'}`, most && `${bytes(most)} each`];
  return `${acts(did)}: ${bounds.filter(Boolean).join(', ')}`;
}

// accepts says who must accept other terms.
export const accepts: Record<Terms['accept'], string> = {
  proposer: 'Nobody besides who proposes them',
  owners: 'All owners',
  entries: 'All members',
};

// waiting says of how many people an answer is awaited.
export const waiting = (people: readonly string[]) => `Waiting for ${count(people.length, 'person', 'people')}`;
