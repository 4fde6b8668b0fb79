// The one table of what the app can be told to do from anywhere: the palette lists it, "?"
// shows its keys, and one handler hears them. Lists, menus and fields have keys of their
// own, which the table names for "?" alone.

import { signal } from '@preact/signals';
import { theme } from './device';
import { isFor, ofSettings } from './menu';
import { inOrder, isArchived } from './order';
import { go, place } from './router';
import { store } from './store';
import type { IconName } from './ui/Icon';
import type { Key } from './words';

// Chord is keys pressed together. mod is ⌘ on a Mac and Ctrl elsewhere.
export interface Chord {
  key: string; // as KeyboardEvent has it; letters are small
  mod?: boolean;
  alt?: boolean;
  shift?: boolean;
}

export interface Command {
  label: Key;
  run: () => void;
  chord?: Chord;
  // icon is there where the palette offers the command.
  icon?: IconName;
  owner?: boolean; // for owners alone
  operator?: boolean; // for who runs the platform
  // typing tells that the keys count in a field, too.
  typing?: boolean;
}

// open is the sheet that lies over the app.
export const open = signal<'palette' | 'keys' | null>(null);

// beside is where Escape leads while a detail is open, '' for none.
export const beside = signal('');

const toggle = (what: 'palette' | 'keys') => () => (open.value = open.value === what ? null : what);
const to = (path: string) => () => go(path);

export const commands: readonly Command[] = [
  { label: 'keys.palette', chord: { key: 'k', mod: true }, typing: true, run: toggle('palette') },
  { label: 'keys.help', chord: { key: '?' }, icon: 'info', run: toggle('keys') },
  { label: 'keys.previous', chord: { key: 'ArrowUp', alt: true }, typing: true, run: () => step(-1) },
  { label: 'keys.next', chord: { key: 'ArrowDown', alt: true }, typing: true, run: () => step(1) },
  { label: 'keys.previous.unread', chord: { key: 'ArrowUp', alt: true, shift: true }, typing: true, run: () => step(-1, true) },
  { label: 'keys.next.unread', chord: { key: 'ArrowDown', alt: true, shift: true }, typing: true, run: () => step(1, true) },
  { label: 'keys.escape', chord: { key: 'Escape' }, typing: true, run: escape },
  { label: 'command.search', chord: { key: 'f', mod: true, shift: true }, icon: 'search', typing: true, run: to('/ui/search') },
  { label: 'command.newmessage', icon: 'edit', run: to('/ui/new-message') },
  { label: 'command.directory', icon: 'room', run: to('/ui/directory') },
  { label: 'command.newroom', icon: 'plus', run: to('/ui/new-room') },
  { label: 'command.rooms', icon: 'room', run: to('/ui/') },
  { label: 'command.documents', icon: 'document', run: to('/ui/workspaces') },
  { label: 'command.record', icon: 'ledger', run: to('/ui/ledger') },
  { label: 'command.members', icon: 'people', run: to('/ui/members') },
  { label: 'command.agents', icon: 'key', run: to('/ui/agents') },
  { label: 'command.tools', icon: 'tool', run: to('/ui/tools') },
  { label: 'command.servers', icon: 'server', run: to('/ui/servers') },
  { label: 'menu.tenant', icon: 'lock', owner: true, run: to('/ui/tenant') },
  { label: 'command.settings', icon: 'settings', run: to('/ui/settings') },
  ...ofSettings.map(({ to: path, ...entry }) => ({ ...entry, run: to(path) })),
  { label: 'command.theme', icon: 'eye', run: switchTheme },
];

// offered are those of the palette, for who is signed in.
export const offered = () => commands.filter((command) => command.icon !== undefined && isFor(command));

// others are keys that fields and lists have, for "?".
export const others: readonly { title: Key; keys: readonly { label: Key; chords: readonly Chord[] }[] }[] = [
  {
    title: 'keys.writing',
    keys: [
      { label: 'keys.send', chords: [{ key: 'Enter' }, { key: 'Enter', mod: true }] },
      { label: 'keys.break', chords: [{ key: 'Enter', shift: true }] },
      { label: 'keys.edit', chords: [{ key: 'ArrowUp' }] },
    ],
  },
  {
    title: 'keys.lists',
    keys: [
      { label: 'keys.move', chords: [{ key: 'ArrowUp' }, { key: 'ArrowDown' }] },
      { label: 'keys.ends', chords: [{ key: 'Home' }, { key: 'End' }] },
      { label: 'keys.letters', chords: [{ key: 'keys.alpha' }] },
    ],
  },
];

// listen hears the keys of the table, until the answer is called. It hears before what has
// the focus does, so that "?" isn't taken for the first letter of a message; but a dialog,
// a menu and a field have Escape first.
export function listen(): () => void {
  const early = (e: KeyboardEvent) => hear(e, (c) => c.chord?.key !== 'Escape');
  const late = (e: KeyboardEvent) => hear(e, (c) => c.chord?.key === 'Escape');
  addEventListener('keydown', early, { capture: true });
  addEventListener('keydown', late);
  return () => {
    removeEventListener('keydown', early, { capture: true });
    removeEventListener('keydown', late);
  };
}

function hear(e: KeyboardEvent, which: (c: Command) => boolean) {
  if (e.defaultPrevented || e.isComposing) return;
  const command = commands.find((c) => which(c) && c.chord && pressed(c.chord, e));
  if (!command || (!command.typing && isField(e.target))) return;
  if (document.querySelector('dialog[open]') && open.value === null) return; // it has to be answered first
  if (command.chord!.key === 'Escape' && (open.value !== null || document.querySelector('[role="menu"]'))) return;
  e.preventDefault();
  e.stopPropagation();
  command.run();
}

// pressed tells whether a key that was pressed is a chord. A sign such as "?" is what it is,
// whether Shift brings it about or not.
export function pressed({ key, mod = false, alt = false, shift = false }: Chord, e: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): boolean {
  const same = (e.key.length === 1 ? e.key.toLowerCase() : e.key) === key;
  return same && (e.ctrlKey || e.metaKey) === mod && e.altKey === alt && (e.shiftKey === shift || /^[^a-z]$/.test(key));
}

const isField = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || target.matches('input:not([type=radio], [type=checkbox]), textarea, select'));

const roomAt = () => place.peek().path.match(/^\/ui\/rooms\/([^/]+)/)?.[1];

// step goes to the room before or after, round the ends of the list, past those that are archived.
function step(by: 1 | -1, unread = false) {
  const rooms = inOrder(store.peek()?.rooms.mine.peek() ?? []).filter((room) => !isArchived(room));
  const now = rooms.findIndex((room) => room.room_id === roomAt());
  for (let i = 1; i <= rooms.length; i++) {
    const from = now < 0 && by < 0 ? 0 : now;
    const next = rooms[(from + by * i + rooms.length * 2) % rooms.length]!;
    if (next.room_id !== roomAt() && (!unread || next.unread > 0)) return go(`/ui/rooms/${next.room_id}`);
  }
}

// escape closes the detail beside a screen, else it marks the room as read.
function escape() {
  if (beside.peek()) return go(beside.peek());
  const room = store.peek()?.rooms.get(roomAt() ?? '');
  if (room?.member) store.peek()!.markRead(room.room_id, room.last_seq);
}

function switchTheme() {
  const dark = theme.value === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme.value === 'dark';
  theme.value = dark ? 'light' : 'dark';
}
