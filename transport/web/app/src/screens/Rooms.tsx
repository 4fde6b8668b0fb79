// The rooms one is in, the one with the latest message first, and those one may join. Only
// what is in view is drawn, so that thousands of rooms cost no more than ten.

import './Rooms.css';
import type { TargetedKeyboardEvent, TargetedMouseEvent } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { open } from '../commands';
import { isMuted, known, preferred, useMine } from '../notify/mine';
import { isArchived, parts } from '../order';
import { go, place } from '../router';
import { store } from '../store';
import type { RoomView } from '../store/rooms';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { lazy } from '../ui/lazy';
import { Icon } from '../ui/Icon';
import { Row } from '../ui/Row';
import { Screen } from '../ui/Screen';
import { Spinner } from '../ui/Spinner';
import { unread } from '../ui/title';
import { toast } from '../ui/Toast';
import { VirtualList, type VirtualHandle } from '../ui/VirtualList';
import { t, type Key } from '../words';
import { useLine } from './line';
import { RoomRow } from './room/RoomRow';
import { asked } from './rooms/asked';
import { fold, folded, isFolded } from './rooms/folded';
import { roving } from './rooms/roving';
import { AddPasskey } from './AddPasskey';

const RoomMenu = lazy(() => import('./rooms/RoomMenu'));

// many is from how many rooms of one's own on a search helps. Those that one may join come later,
// and would push the list down; the directory has a search of its own.
const many = 5;

const headings = { favourites: 'rooms.favourites', direct: 'rooms.direct', rooms: 'rooms.rest', archived: 'rooms.archived', joinable: 'rooms.joinable' } satisfies Record<string, Key>;

// Line is what a row of the list shows: a heading, a room, or the way to the directory.
type Line = { id: string; heading: Key; count: number } | { id: string; room: RoomView } | { id: 'directory' };

export default function Rooms() {
  const now = store.value;
  const [sought, setSought] = useState('');
  const line = useLine(now);
  useMine(now);
  useRestored(now?.restored.value ?? 0);
  const [mine, others] = [now?.rooms.mine.value ?? [], now?.rooms.others.value ?? []];
  useBadges(mine.reduce((sum, room) => sum + (isMuted(room.room_id) || isArchived(room) ? 0 : room.unread), 0));
  const waiting = !now || !known.value || (mine.length === 0 && !now.synced.value);
  return (
    <Screen title={t('rooms.title')} sub={line} fixed actions={<Actions />}>
      <AddPasskey />
      {mine.length >= many && <Search value={sought} onValue={setSought} />}
      {waiting ? <Spinner /> : <Found mine={mine} others={others} sought={sought} />}
    </Screen>
  );
}

function Actions() {
  return (
    <>
      <Button kind="quiet" icon="search" label={t('palette.title')} onClick={() => (open.value = 'palette')} />
      <Button kind="quiet" icon="edit" label={t('rooms.message')} onClick={() => go('/ui/new-message')} />
      <Button kind="quiet" icon="plus" label={t('rooms.new')} onClick={() => go('/ui/new-room')} />
    </>
  );
}

function Found({ mine, others, sought }: { mine: readonly RoomView[]; others: readonly RoomView[]; sought: string }) {
  const lines = useMemo(() => linesOf(mine, others, sought), [mine, others, sought, preferred.value, folded.value]);
  const handle = useRef<VirtualHandle>(null);
  const path = `${place.value.path}/`;
  if (lines.length === 0) {
    return (
      <Empty icon="room" title={t(sought ? 'rooms.notfound' : 'rooms.none')}>
        {!sought && (
          <>
            <p>{t('rooms.none.hint')}</p>
            <Button kind="primary" onClick={() => go('/ui/new-room')}>
              {t('rooms.none.action')}
            </Button>
          </>
        )}
      </Empty>
    );
  }
  const rooms = lines.flatMap((line) => ('room' in line ? [line.room] : []));
  return (
    <div class="rooms" onKeyDown={(e) => roving(e, rooms, handle.current)} onContextMenu={menu}>
      <VirtualList items={lines} keyOf={(line) => line.id} estimate={64} label={t('rooms.list')} handle={handle}>
        {(line) => ('room' in line ? <RoomRow room={line.room} current={path.startsWith(`/ui/rooms/${line.room.room_id}/`)} /> : 'heading' in line ? <Heading of={line} sought={sought !== ''} /> : <ToDirectory />)}
      </VirtualList>
      {asked.value && <RoomMenu />}
    </div>
  );
}

// menu opens that of a room on a right click, the keyboard's menu key, or when it is held.
function menu(e: TargetedMouseEvent<HTMLElement>) {
  const id = (e.target as HTMLElement).closest<HTMLElement>('[data-key]')?.dataset.key ?? '';
  if (!store.peek()?.rooms.get(id)?.member) return;
  e.preventDefault();
  asked.value = id;
}

// linesOf are the rows of the list. One part needs no heading, unless it is of rooms that
// one isn't in.
function linesOf(mine: readonly RoomView[], others: readonly RoomView[], sought: string): Line[] {
  const wanted = (rooms: readonly RoomView[]) => rooms.filter((room) => matches(room, sought));
  const found = parts(wanted(mine), wanted(others));
  const bare = found[0]?.id === 'rooms';
  const lines = found.flatMap(({ id, rooms }): Line[] => {
    const rows = rooms.map((room): Line => ({ id: room.room_id, room }));
    if (bare && id === 'rooms') return rows;
    const shown = isFolded(id) && sought === '' ? [] : rows;
    return [{ id, heading: headings[id], count: rows.length }, ...shown];
  });
  return lines.length > 0 && sought === '' ? [...lines, { id: 'directory' }] : lines;
}

function ToDirectory() {
  return <Row within to="/ui/directory" start={<Icon name="search" />} title={t('rooms.find')} sub={t('rooms.find.help')} />;
}

// Heading folds the part of the list below it; who searches sees all of them.
function Heading({ of: { id, heading, count }, sought }: { of: { id: string; heading: Key; count: number }; sought: boolean }) {
  const shut = isFolded(id) && !sought;
  return (
    <h2 class="list-title">
      <button type="button" aria-expanded={!shut} disabled={sought} onClick={() => fold(id)}>
        <Icon name={shut ? 'forward' : 'down'} size={16} /> {t(heading)} {shut && <span class="count">{count}</span>}
      </button>
    </h2>
  );
}

function Search({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const leave = (e: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (e.key !== 'Escape' || value === '') return;
    e.preventDefault(); // which else marks the room as read
    onValue('');
  };
  return (
    <div class="search" role="search" aria-label={t('rooms.search')}>
      <input class="input" type="search" dir="auto" aria-label={t('rooms.search')} placeholder={t('rooms.search')} value={value} onInput={(e) => onValue(e.currentTarget.value)} onKeyDown={leave} />
    </div>
  );
}

function matches(room: RoomView, sought: string): boolean {
  return room.name.toLocaleLowerCase().includes(sought.trim().toLocaleLowerCase());
}

// useBadges shows the number of unread messages on the installed app's icon, soon after it
// has changed, and before the page's title, for who looks at another tab.
function useBadges(n: number) {
  useEffect(() => {
    const { setAppBadge } = navigator as Navigator & { setAppBadge?: (n: number) => Promise<void> };
    const timer = setTimeout(() => void setAppBadge?.call(navigator, n).catch(() => undefined), 500);
    return () => clearTimeout(timer);
  }, [n]);
  useEffect(() => {
    unread.value = n;
  }, [n]);
}

// useRestored tells that the server isn't what it was, so that what one remembers may
// be missing.
function useRestored(times: number) {
  useEffect(() => {
    if (times > 0) toast(t('app.restored'), { sticky: true });
  }, [times]);
}
