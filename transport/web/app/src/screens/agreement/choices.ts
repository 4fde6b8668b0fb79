// choices.ts is what the terms of an Agreement permit and limit, as the form has it: one line for
// each act and each whom.

import type { Agreement, Limit, Permit } from '../../types';
import { number } from '../../text';

// May is one line: somebody may do something.
export interface May {
  did: string;
  to: string;
}

// AtMost is one line of the limits. What isn't bounded is "".
export interface AtMost {
  did: string;
  often: string; // a minute
  together: boolean;
  kib: string; // the size of one
}

export const maysOf = (permits: readonly Permit[]): May[] => permits.flatMap(({ did, to }) => to.map((one) => ({ did, to: one })));

// permitsOf puts lines about one act together, each once, in the order of the first.
export function permitsOf(mays: readonly May[]): Permit[] {
  const by = new Map<string, string[]>();
  for (const { did, to } of mays) by.set(did, [...new Set([...(by.get(did) ?? []), to])]);
  return [...by].map(([did, to]) => ({ did, to }));
}

const kib = 1024;

export const atMostsOf = (limits: readonly Limit[] = []): AtMost[] =>
  limits.map(({ did, per_minute, together, bytes }) => ({ did, often: String(per_minute ?? ''), together: !!together, kib: bytes ? String(bytes / kib) : '' }));

// limitsOf are the limits that the lines come to; undefined for none.
export function limitsOf(lines: readonly AtMost[]): Limit[] | undefined {
  const limits = lines.map(({ did, often, together, kib: size }) => ({
    did,
    ...(often && { per_minute: Number(often) }),
    ...(often && together && { together: true }),
    ...(size && { bytes: Math.round(Number(size) * kib) }),
  }));
  return limits.length > 0 ? limits : undefined;
}

const mostOften = 100_000;
const mostKiB = 1 << 20;

// problemOf says what has to be mended in the lines, null for nothing. The rest the server knows.
export function problemOf(mays: readonly May[], lines: readonly AtMost[]): string | null {
  const proposes = ({ did, to }: May) => ['*', 'agreement.*', 'agreement.propose'].includes(did) && ['owners', 'entries', 'tenant', 'anyone'].includes(to);
  if (!mays.some(proposes)) return 'Let owners change this Agreement, or nobody ever can again';
  for (const { often, kib: size } of lines) {
    if (!often && !size) return 'Say how often or how large, or remove the limit';
    if (often && !(/^\d+$/.test(often) && Number(often) >= 1 && Number(often) <= mostOften)) return `Times a minute: 1 to ${number(mostOften)}`;
    if (size && !(/^\d+(\.\d+)?$/.test(size) && Number(size) * kib >= 1 && Number(size) <= mostKiB)) return `KiB: up to ${number(mostKiB)}`;
  }
  return null;
}

// about are acts that people choose from, by what an Agreement governs.
const about: Record<string, readonly string[]> = {
  room_governance: [
    '*', 'messenger.*', 'messenger.send', 'messenger.react', 'messenger.pin', 'messenger.poll.create', 'messenger.form.create', 'messenger.call.begin', 'room.*', 'room.describe', 'room.invite', 'room.join', 'room.remove', 'room.update', 'agreement.*',
  ],
  tenant_license: [
    '*', 'tenant.*', 'tenant.join', 'tenant.invitation.*', 'room.create', 'container.create', 'office.workspace.*', 'token.*', 'tool.*', 'kind.*', 'credits.*', 'platform.*', 'passkey.*',
    'portal.*', 'portal.call', 'portal.server.connect', 'office.tool.call', 'webhook.*', 'person.*', 'person.reminder.add', 'person.scheduled.*', 'person.device.*', 'agreement.*',
  ],
};
const inContainers = [
  '*', 'office.*', 'office.document.get', 'office.document.create', 'office.document.update', 'office.document.delete', 'office.document.publish', 'office.file.put', 'office.file.remove', 'container.*', 'container.get', 'container.transfer',
  'container.receive', 'container.invite', 'container.join', 'container.remove', 'agreement.*',
];

// actsFor are what a line can be about: what fits the Agreement, and what its terms have already.
export const actsFor = ({ type, terms }: Pick<Agreement, 'type' | 'terms'>): string[] => [
  ...new Set([...(about[type] ?? inContainers), ...terms.permits.map((p) => p.did), ...(terms.limits ?? []).map((l) => l.did)]),
];

// whomFor are to whom a line can permit: roles, who is in the terms already, and members.
export const whomFor = ({ physics, terms, members }: Pick<Agreement, 'physics' | 'terms' | 'members'>): string[] => [
  ...new Set(['owners', 'entries', 'tenant', ...(physics?.permeability === 'public' ? ['anyone'] : []), ...terms.permits.flatMap((p) => p.to), ...members.map((m) => m.user_id)]),
];
