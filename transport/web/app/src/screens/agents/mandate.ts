// mandate.ts is what an agent may do: as a person chooses it, as the server keeps it, and in words.

import { bare, number } from '../../text';
import type { Confirm, Mandate, Server, ServiceToken } from '../../types';
import own from './grants.json';

// Grant is what a person lets an agent use, all of it or nothing. says follows "It can".
export interface Grant {
  name: string;
  says: string;
  tools: string[];
  chosen: boolean; // unless the person says otherwise
}

// grants are those of our own tools, in the words of the page that lets agents in, and then one
// for each server of tools.
export const grants = (servers: readonly Server[] = []): Grant[] => [
  ...own,
  ...servers.map(({ server_id, name }) => ({
    name: `server:${server_id}`, says: `Use those tools of ${name} (${server_id}) that you may use`, tools: [`${server_id}.*`], chosen: false,
  })),
];

// Choices are a mandate as the form has it.
export interface Choices {
  everything: boolean; // every tool that members have; what it uses counts for nothing then
  uses: readonly string[]; // names of grants
  more: readonly string[]; // tools that no grant has, which an earlier mandate named
  everywhere: boolean; // wherever it is added; places count for nothing then
  places: readonly string[];
  read_only: boolean;
  often: string; // calls a minute, "" for no bound
  confirm: Asks;
}

// Asks is before which uses of tools by an agent a person is asked.
export type Asks = 'never' | Confirm;

// asks are the choices, for a mandate and for a tool.
export const asks: readonly { value: Asks; label: string }[] = [
  { value: 'never', label: 'Never' },
  { value: 'destructive', label: 'Before it replaces or deletes something' },
  { value: 'always', label: 'Every time' },
];

// confirmOf is a choice as records have it, where never is absent.
export const confirmOf = (a: Asks): { confirm?: Confirm } => (a === 'never' ? {} : { confirm: a });

// usual is what a new agent is offered: talk and documents, in no place by itself.
export const usual: Choices = {
  everything: false, uses: own.filter((g) => g.chosen).map((g) => g.name), more: [], everywhere: false, places: [], read_only: false, often: '60', confirm: 'never',
};

const most = 100_000; // calls a minute

// problemOf says what has to be mended in the choices, null for nothing.
export function problemOf(c: Choices): string | null {
  if (c.often !== '' && !(/^\d+$/.test(c.often) && Number(c.often) >= 1 && Number(c.often) <= most)) return `Calls a minute: 1 to ${number(most)}, or nothing for no limit`;
  if (!c.everything && c.uses.length + c.more.length === 0) return 'Choose what it may do';
  if (!c.everywhere && c.places.length === 0) return 'Choose at least one room or workspace, or let it be wherever it is added';
  return null;
}

// mandateOf is the mandate that the choices come to, null where they bound nothing.
export function mandateOf(c: Choices, of: readonly Grant[]): Mandate | null {
  const used = c.everything ? [] : of.filter((g) => c.uses.includes(g.name));
  const asUsual = c.everything || of.every((g) => g.chosen === c.uses.includes(g.name));
  const mandate: Mandate = {
    // Where nothing is out of the ordinary the agent is shown what anybody is.
    sets: asUsual ? [] : used.map((g) => g.name),
    tools: c.everything ? [] : [...new Set([...used.flatMap((g) => g.tools), ...c.more])].sort(),
    places: c.everywhere ? [] : [...c.places],
    read_only: c.read_only,
    per_minute: Number(c.often),
    ...confirmOf(c.confirm),
  };
  const bounds = mandate.tools.length + mandate.places.length + mandate.per_minute > 0 || mandate.read_only || !!mandate.confirm;
  return bounds ? mandate : null;
}

// choicesOf are the choices that a mandate came from.
export function choicesOf(m: Mandate | undefined, of: readonly Grant[]): Choices {
  if (!m) return { ...usual, everything: true, everywhere: true, often: '' };
  const { uses, more } = sorted(m, of);
  const everything = m.tools.length === 0;
  return {
    everything, uses: everything ? usual.uses : uses.map((g) => g.name), more, everywhere: m.places.length === 0, places: m.places,
    read_only: m.read_only, often: m.per_minute > 0 ? String(m.per_minute) : '', confirm: m.confirm ?? 'never',
  };
}

// sorted are the grants that a mandate has whole, and its tools that none of those has.
function sorted(m: Mandate, of: readonly Grant[]): { uses: Grant[]; more: string[] } {
  const uses = of.filter((g) => g.tools.every((tool) => covers(m.tools, tool)));
  return { uses, more: m.tools.filter((tool) => !uses.some((g) => g.tools.includes(tool))) };
}

// covers tells whether a list of tools has one, or a beginning of it with * behind.
const covers = (list: readonly string[], tool: string) => list.some((one) => one === tool || (one.endsWith('*') && tool.startsWith(one.slice(0, -1))));

// Said is a mandate in words.
export interface Said {
  can: string[]; // sentences that follow "It can"
  where: string;
  bounds: string[];
}

// say says what an agent may do. called is what a room or a workspace is called.
export function say(m: Mandate | undefined, of: readonly Grant[], called: (id: string) => string): Said {
  if (!m) return { can: ['Whatever a member may do'], where: 'Wherever members are let in', bounds: [] };
  const { uses, more } = sorted(m, of);
  const can = m.tools.length === 0 ? ['Whatever a member may do'] : [...uses.map((g) => g.says), ...(more.length > 0 ? [`Use ${more.join(', ')}`] : [])];
  return {
    can,
    where: m.places.length === 0 ? 'Wherever it is added' : `Only in ${m.places.map(called).join(', ')}`,
    bounds: [...(m.read_only ? ['Changes nothing'] : []), ...(m.per_minute > 0 ? [`${number(m.per_minute)} calls a minute at most`] : []), ...(m.confirm ? [m.confirm === 'always' ? 'Asks a person every time' : 'Asks a person before it replaces or deletes something'] : [])],
  };
}

// inShort is where an agent may be, and its limits, on one line.
export function inShort({ where, bounds }: Said): string {
  return [where, ...bounds.map((b) => b.charAt(0).toLowerCase() + b.slice(1))].join('; ');
}

// agreementOf is the id of the Agreement that a mandate is.
export const agreementOf = (t: ServiceToken) => `a:agent:${t.client_id.slice(0, t.client_id.indexOf('.'))}`;

// kindOf is what a place is, by its id.
export const kindOf = (id: string) => (id.startsWith('r:') ? 'room' : id.startsWith('w:') ? 'workspace' : 'container');

// unnamed is what to call a place whose name isn't known here.
export const unnamed = (id: string) => `${bare(id)} (${kindOf(id)})`;

// isLiving tells whether a token still lets its agent in.
export const isLiving = (t: ServiceToken, now: string) => !t.revoked_at && (!t.expires_at || t.expires_at > now);
