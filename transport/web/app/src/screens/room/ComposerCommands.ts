// Commands that one writes into the field: "/topic Launch in May". Each of the house's own is an act
// that the screens have, too, with its receipt; the others are tools of other servers, by their
// names. A text that begins with "//" is sent as "/".

import { at, newKey, patch, post } from '../../api';
import { forever, isMuted, setRoom } from '../../notify/mine';
import { go } from '../../router';
import { isNews } from '../../store/entries';
import type { Named } from '../../store/db';
import { ask } from '../../ui/Dialog';
import { toast } from '../../ui/Toast';
import { t, type Key } from '../../words';
import { myself } from '../members/of';
import { archive, mayArchive } from '../rooms/archive';
import { mentioned } from './ComposerText';
import { readInside } from './facts';
import type { Talk } from './talk';
import { usable } from './usable';

// Given is what was written behind a command.
export interface Given {
  talk: Talk;
  rest: string;
  chosen: readonly Named[];
  // done empties the field.
  done: () => void;
}

export interface Command {
  name: string;
  help: Key;
  // run does it, and tells whether the field can be emptied at once. What fails, throws.
  run: (given: Given) => Promise<boolean>;
}

export const commands: readonly Command[] = [
  { name: 'me', help: 'write.command.me', run: async ({ talk, rest }) => sendMe(talk, rest) },
  { name: 'topic', help: 'write.command.topic', run: ({ talk, rest }) => patch(at`/api/rooms/${talk.roomId}/about`, { topic: rest }, { key: newKey() }).then(() => true) },
  { name: 'poll', help: 'write.command.poll', run: async ({ talk, rest }) => ((talk.polling.value = rest), true) },
  { name: 'remind', help: 'write.command.remind', run: remind },
  { name: 'schedule', help: 'write.command.schedule', run: later },
  { name: 'search', help: 'write.command.search', run: async ({ rest }) => (go(`/ui/search?${new URLSearchParams({ q: rest })}`), true) },
  { name: 'mute', help: 'write.command.mute', run: mute },
  { name: 'invite', help: 'write.command.invite', run: invite },
  { name: 'dm', help: 'write.command.dm', run: direct },
  { name: 'archive', help: 'write.command.archive', run: end },
  { name: 'leave', help: 'write.command.leave', run: leave },
];

// Told is what a text tells to do.
export interface Told {
  name: string;
  rest: string;
}

// commandIn is null for a message. A path ("/etc/hosts") and a slash by itself are none.
export function commandIn(text: string): Told | null {
  const found = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/.exec(text);
  return found && { name: found[1]!, rest: (found[2] ?? '').trim() };
}

// obey does what a text tells, and answers what becomes of it. What fails, throws. What is no command
// is a message only once the person has said so.
export async function obey({ name, rest }: Told, given: Omit<Given, 'rest'>): Promise<'done' | 'kept' | 'message'> {
  const small = name.toLowerCase();
  const command = commands.find((c) => c.name === small);
  if (command) return (await command.run({ ...given, rest })) ? 'done' : 'kept';
  const use = name.includes('.') && (await usable(given.talk.store)).find(({ tool }) => tool.tool === name);
  if (use) {
    given.talk.calling.value = { use, rest, done: given.done };
    return 'kept';
  }
  const send = await ask({ title: t('write.unknown', { name }), text: t('write.unknown.text'), action: t('write.unknown.send') });
  return send ? 'message' : 'kept';
}

// unescaped is a message without the slash by which it is told from a command.
export const unescaped = (text: string) => (text.startsWith('//') ? text.slice(1) : text);

function sendMe(talk: Talk, rest: string): boolean {
  if (rest) talk.send(`*${rest.replace(/([*\\])/g, '\\$1')}*`);
  return rest !== '';
}

// whom are those whom a command names, by "@name", or by a user id.
function whom(rest: string, chosen: readonly Named[]): string[] {
  const ids = [...mentioned(rest, chosen).filter((id) => id !== '@room'), ...(rest.match(/\bu:[A-Za-z0-9._-]+/g) ?? [])];
  if (ids.length === 0) throw new Error(t('write.command.whom'));
  return ids;
}

// remind is about the message that is replied to, else the newest one.
async function remind({ talk, rest }: Given): Promise<boolean> {
  const message = talk.reply.value ?? talk.window.items.value.findLast((row) => row.message && isNews(row.message))?.message;
  if (!message) throw new Error(t('write.remind.none'));
  talk.reminding.value = { message, note: rest };
  return true;
}

async function later({ talk, rest, chosen, done }: Given): Promise<boolean> {
  if (rest === '') throw new Error(t('later.none'));
  if (talk.files().length > 0) throw new Error(t('later.files'));
  talk.planning.value = { text: rest, mentions: mentioned(rest, chosen), done };
  return false;
}

async function mute({ talk: { roomId } }: Given): Promise<boolean> {
  const was = isMuted(roomId);
  await setRoom(roomId, { mute_s: was ? 0 : forever });
  toast(t(was ? 'write.unmuted' : 'write.muted'));
  return true;
}

async function end({ talk }: Given): Promise<boolean> {
  const { room, members } = await readInside(talk.roomId);
  if (!mayArchive(room, myself(members)?.role)) throw new Error(t('write.archive.not'));
  await archive(room);
  return true;
}

async function invite({ talk, rest, chosen }: Given): Promise<boolean> {
  for (const user_id of whom(rest, chosen)) await post(at`/api/rooms/${talk.roomId}/members`, { user_id }, { key: newKey() });
  return true;
}

async function direct({ rest, chosen }: Given): Promise<boolean> {
  const { room } = await post<{ room: { room_id: string } }>('/api/dms', { with: whom(rest, chosen) }, { key: newKey() });
  go(`/ui/rooms/${room.room_id}`);
  return true;
}

async function leave({ talk }: Given): Promise<boolean> {
  const name = talk.store.rooms.get(talk.roomId)?.name ?? '';
  if (!(await ask({ title: t('write.leave.title', { name }), text: t('write.leave.text'), action: t('write.leave.action'), danger: true }))) return false;
  await post(at`/api/rooms/${talk.roomId}/leave`, null, { key: newKey() });
  go('/ui/');
  return true;
}
