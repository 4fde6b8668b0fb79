// Calling another server's tool from where one writes: what its definition asks for becomes a form,
// what was written behind its name fills that in, and its answer becomes a message. Definitions and
// answers are strangers' words. All of it is pure: ToolCall has the form.

import { utf8 } from '../../text';
import type { Tool, ToolResult } from '../../types';

// Field is one of a tool's arguments. A json one is anything that has no field of its own.
export interface Field {
  name: string;
  label: string;
  hint: string;
  kind: 'text' | 'number' | 'whole' | 'yes' | 'choice' | 'json';
  required: boolean;
  secret: boolean;
  options: readonly unknown[]; // of a choice
  begins: string; // what it holds at first
}

// Values are what the fields hold, by name: a switch that is on holds "true".
export type Values = ReadonlyMap<string, string>;

// Form is what a tool asks for. A free one is an object whose members aren't known: it has one field.
export interface Form {
  fields: readonly Field[];
  free: boolean;
}

type Schema = Readonly<Record<string, unknown>>;

const isObject = (v: unknown): v is Schema => typeof v === 'object' && v !== null && !Array.isArray(v);
const words = (v: unknown) => (typeof v === 'string' ? v : '');
const secrets = /pass(word|phrase|code)|secret|(^|_|[a-z])token$|api_?key|private_?key|authorization|credential|(^|_)pin$/i;

export const titleOf = ({ definition, upstream }: Tool) => words(definition?.title) || words(isObject(definition?.annotations) && definition.annotations.title) || upstream;
export const descriptionOf = ({ definition }: Tool) => words(definition?.description);

// destroys tells whether a tool may change or delete something, as the server reads its definition:
// it may, unless that says otherwise.
export function destroys({ definition }: Tool): boolean {
  const says = isObject(definition?.annotations) ? definition.annotations : {};
  return says.readOnlyHint !== true && says.destructiveHint !== false;
}

const whole: Field = { name: '', label: '', hint: '', kind: 'json', required: false, secret: false, options: [], begins: '' };

// found are at most n of the tools whose names have a part that begins so, those first whose whole name does.
export function found<T extends { tool: Tool }>(all: readonly T[], query: string, n = 20): T[] {
  const q = query.toLowerCase();
  const name = ({ tool }: T) => tool.tool.toLowerCase();
  const begins = (one: T) => name(one).startsWith(q);
  return all.filter((one) => begins(one) || name(one).split(/[._-]/).some((part) => part.startsWith(q))).sort((a, b) => Number(begins(b)) - Number(begins(a))).slice(0, n);
}

export function formOf({ definition }: Tool): Form {
  const schema = isObject(definition?.inputSchema) ? definition.inputSchema : {};
  const names = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const known = [...required].every((name) => names.some(([other]) => other === name));
  if (!known || (names.length === 0 && ['anyOf', 'oneOf', 'allOf', '$ref'].some((word) => word in schema))) return { fields: [whole], free: true };
  return { fields: names.map(([name, of]) => fieldOf(name, isObject(of) ? of : {}, required.has(name))), free: false };
}

function fieldOf(name: string, given: Schema, required: boolean): Field {
  const of = meant(given);
  const types = [of.type].flat().filter((type) => type !== 'null');
  const first = of.default ?? given.default ?? undefined;
  const flag = types.length === 1 && types[0] === 'boolean';
  // A switch can't say that a flag is missing: one that may be is a choice.
  const options = Array.isArray(of.enum) ? of.enum : flag && !required && first === undefined ? [true, false] : [];
  const kind = options.length > 0 ? 'choice' : types.length === 1 ? (kinds[String(types[0])] ?? 'json') : 'json';
  const begins = first === undefined ? '' : typeof first === 'string' && kind !== 'json' ? first : JSON.stringify(first);
  return { name, label: words(given.title) || words(of.title) || name, hint: words(given.description) || words(of.description), kind, required, secret: secrets.test(name) || of.format === 'password' || of.writeOnly === true, options, begins };
}

const kinds: Readonly<Record<string, Field['kind'] | undefined>> = { string: 'text', number: 'number', integer: 'whole', boolean: 'yes' };

// meant is a schema without the null that makes a member one that may be missing.
function meant(of: Schema): Schema {
  const one = [of.anyOf, of.oneOf].find(Array.isArray)?.filter((part) => isObject(part) && part.type !== 'null');
  return one?.length === 1 ? (one[0] as Schema) : of;
}

// filled are the values that a form begins with: its own, then what was written as key=value, and the
// rest of the words in the first field of text that has none.
export function filled({ fields, free }: Form, written: string): Values {
  const values = new Map(fields.map((f) => [f.name, f.begins]));
  if (free) return values.set('', written.trim());
  const rest = written.replace(/(^|\s)([\w.-]+)=(?:"([^"]*)"|(\S*))/g, (all, space: string, name: string, quoted: string | undefined, bare: string) => {
    const field = fields.find((f) => f.name === name);
    if (!field) return all;
    values.set(name, quoted ?? bare);
    return space;
  });
  const open = fields.find((f) => f.kind === 'text' && values.get(f.name) === '' && f.required) ?? fields.find((f) => f.kind === 'text' && values.get(f.name) === '');
  if (open && rest.trim() !== '') values.set(open.name, rest.trim());
  return values;
}

// Wrong says of a field why its value isn't taken.
export type Problems = 'missing' | 'number' | 'json' | 'choice';
export type Wrong = ReadonlyMap<string, Problems>;

// read makes the arguments of what the fields hold, or says what is wrong.
export function read({ fields, free }: Form, values: Values): { args?: Record<string, unknown>; wrong: Wrong } {
  const wrong = new Map<string, Problems>();
  const members: [string, unknown][] = [];
  for (const field of fields) {
    const text = values.get(field.name) ?? '';
    if (text.trim() === '' && field.kind !== 'yes') {
      if (field.required) wrong.set(field.name, 'missing');
      continue;
    }
    const value = valueOf(field, text);
    if (value === undefined) wrong.set(field.name, field.kind === 'json' || field.kind === 'choice' ? field.kind : 'number');
    else members.push([field.name, value]);
  }
  if (wrong.size > 0) return { wrong };
  if (!free) return { args: Object.fromEntries(members), wrong };
  const all = members[0]?.[1] ?? {};
  return isObject(all) ? { args: all, wrong } : { wrong: new Map([['', 'json']]) };
}

function valueOf({ kind, options }: Field, text: string): unknown {
  switch (kind) {
    case 'text':
      return text;
    case 'yes':
      return text === 'true';
    case 'choice':
      return options.find((one) => optionOf(one) === text);
    case 'number':
    case 'whole': {
      const n = Number(text);
      return Number.isFinite(n) && (kind === 'number' || Number.isSafeInteger(n)) ? n : undefined;
    }
    case 'json':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
  }
}

// optionOf is how a choice is shown and kept.
export const optionOf = (one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one));

// textOf are the words of an answer; what else it has are its other parts.
export function textOf({ content, structured_content }: ToolResult): { text: string; others: number } {
  const blocks = content ?? [];
  const texts = blocks.filter((b) => b.type === 'text').map((b) => words(b.text));
  const others = blocks.length - texts.length;
  if (texts.length > 0 || structured_content === undefined) return { text: texts.join('\n\n').trim(), others };
  return { text: JSON.stringify(structured_content, null, 2), others };
}

// plain is a stranger's name on one line, which Markdown reads as a name.
export const plain = (name: string) => name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim().slice(0, 100).replace(/[\\`*_[\]<>~|#&:]/g, '\\$&');

// Told is what a message about a call is made of.
export interface Told {
  head: string; // who was asked for what
  args: Readonly<Record<string, unknown>>;
  form: Form;
  answer: string;
  receipt: string; // a link in Markdown
}

// longest is how much of its arguments a message has, in characters.
const longest = 300;

// messageOf is a message about a call, in at most so many bytes. The answer is a quote in it, in a block
// of code: so nothing in a stranger's words is read as the caller's, or as Markdown.
export function messageOf({ head, args, form, answer, receipt }: Told, limit: number): string {
  // What is in an object isn't known to be no secret.
  const hidden = (name: string, value: unknown) => typeof value === 'object' || (form.free ? secrets.test(name) : form.fields.find((f) => f.name === name)?.secret);
  const asked = Object.entries(args)
    .map(([name, value]) => `${name}=${hidden(name, value) ? '…' : String(value)}`)
    .join(' ')
    .replace(/\s+/g, ' ');
  const cut = asked.length > longest ? `${asked.slice(0, longest)}…` : asked;
  const first = [head, cut && inCode(cut), receipt].filter(Boolean).join(' · ');
  const most = limit - utf8(`${first}\n\n\n\n`);
  // A fence is longer than what it holds has in a row: so what is kept is cut before, twice for its fences.
  const begin = cutTo(answer, most);
  const fence = '`'.repeat(Math.max(3, longestRun(begin) + 1));
  const room = most - 2 * fence.length;
  if (room < 4 || !answer) return first;
  const kept = utf8(answer) > room ? `${cutTo(begin, room - 3)}…` : answer;
  return `${first}\n\n${fence}\n${kept}\n${fence}`;
}

// inCode is a run of code that holds any text.
function inCode(text: string): string {
  const ticks = '`'.repeat(longestRun(text) + 1);
  return `${ticks} ${text} ${ticks}`;
}

// longestRun is how many backticks follow each other at most.
function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

// cutTo is the beginning of a text in at most so many bytes.
function cutTo(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text).subarray(0, Math.max(0, most));
  return new TextDecoder().decode(bytes).replace(/\ufffd+$/, '');
}
