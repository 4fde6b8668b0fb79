// Commands that one writes into the field: "/topic Launch in May". Each is an act that the
// screens have, too, with its receipt. A text that begins with "//" is sent as "/".

import { at, newKey, patch, post } from '../../api';
import { go } from '../../router';
import { ask } from '../../ui/Dialog';
import { t, type Key } from '../../words';
import { mentioned } from './ComposerText';
import type { Named } from '../../store/db';
import type { Talk } from './talk';

export interface Command {
  name: string;
  help: Key;
  // run does it, and tells whether the field can be emptied. What fails, throws.
  run: (talk: Talk, rest: string, chosen: readonly Named[]) => Promise<boolean>;
}

export const commands: readonly Command[] = [
  { name: 'me', help: 'write.command.me', run: async (talk, rest) => sendMe(talk, rest) },
  { name: 'topic', help: 'write.command.topic', run: (talk, rest) => patch(at`/api/rooms/${talk.roomId}/about`, { topic: rest }, { key: newKey() }).then(() => true) },
  { name: 'poll', help: 'write.command.poll', run: async (talk, rest) => ((talk.polling.value = rest), true) },
  { name: 'invite', help: 'write.command.invite', run: invite },
  { name: 'dm', help: 'write.command.dm', run: direct },
  { name: 'leave', help: 'write.command.leave', run: leave },
];

// commandIn is what a text tells to do: null for a message, and a name that no command has
// for the person to be told.
export function commandIn(text: string): { name: string; rest: string; command?: Command } | null {
  const found = /^\/([A-Za-z]+)(?:\s+([\s\S]*))?$/.exec(text);
  if (!found) return null;
  const name = found[1]!.toLowerCase();
  return { name, rest: (found[2] ?? '').trim(), command: commands.find((c) => c.name === name) };
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

async function invite(talk: Talk, rest: string, chosen: readonly Named[]): Promise<boolean> {
  for (const user_id of whom(rest, chosen)) await post(at`/api/rooms/${talk.roomId}/members`, { user_id }, { key: newKey() });
  return true;
}

async function direct(_: Talk, rest: string, chosen: readonly Named[]): Promise<boolean> {
  const { room } = await post<{ room: { room_id: string } }>('/api/dms', { with: whom(rest, chosen) }, { key: newKey() });
  go(`/ui/rooms/${room.room_id}`);
  return true;
}

async function leave(talk: Talk): Promise<boolean> {
  const name = talk.store.rooms.get(talk.roomId)?.name ?? '';
  if (!(await ask({ title: t('write.leave.title', { name }), text: t('write.leave.text'), action: t('write.leave.action'), danger: true }))) return false;
  await post(at`/api/rooms/${talk.roomId}/leave`, null, { key: newKey() });
  go('/ui/');
  return true;
}
