// The keys by which one moves through the list of rooms. Rows that aren't drawn have to be
// brought into view before they can have the focus.

import type { TargetedKeyboardEvent } from 'preact';
import type { RoomView } from '../../store/rooms';
import type { VirtualHandle } from '../../ui/VirtualList';

// pause is after how long letters begin another word, in ms.
const pause = 800;

let typed = { word: '', at: -Infinity };

export function roving(e: TargetedKeyboardEvent<HTMLElement>, rooms: readonly RoomView[], list: VirtualHandle | null): void {
  if (e.ctrlKey || e.metaKey || e.altKey || !list) return;
  const box = e.currentTarget;
  const now = rooms.findIndex((room) => room.room_id === (document.activeElement?.closest('[data-key]') as HTMLElement | null)?.dataset.key);
  const next = e.key.length === 1 && e.key !== ' ' ? begins(e, rooms, now) : { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: rooms.length - 1 }[e.key];
  const room = next === undefined ? undefined : rooms[next];
  if (!room) return;
  e.preventDefault();
  const focus = () => {
    const link = box.querySelector<HTMLElement>(`[data-key="${CSS.escape(room.room_id)}"] a.body`);
    link?.focus();
    return link !== null;
  };
  if (focus()) return;
  list.scrollToKey(room.room_id);
  requestAnimationFrame(focus);
}

// begins is the next room whose name begins with what was typed.
function begins(e: TargetedKeyboardEvent<HTMLElement>, rooms: readonly RoomView[], now: number): number | undefined {
  const goesOn = e.timeStamp - typed.at < pause;
  typed = { word: (goesOn ? typed.word : '') + e.key.toLocaleLowerCase(), at: e.timeStamp };
  return firstWith(rooms.map((room) => room.name), typed.word, goesOn ? now : now + 1);
}

// firstWith is the place of the first name from one on, round the end, that begins with a word.
export function firstWith(names: readonly string[], word: string, from: number): number | undefined {
  for (let i = 0; i < names.length; i++) {
    const at = (Math.max(from, 0) + i) % names.length;
    if (names[at]!.toLocaleLowerCase().startsWith(word)) return at;
  }
  return undefined;
}
