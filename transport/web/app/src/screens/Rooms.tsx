// The rooms one is in, the one with the latest message first, and those one may join.

import './Rooms.css';
import { useEffect, useState } from 'preact/hooks';
import { go, place } from '../router';
import { store } from '../store';
import type { RoomView } from '../store/rooms';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { List } from '../ui/Row';
import { Screen } from '../ui/Screen';
import { Spinner } from '../ui/Spinner';
import { toast } from '../ui/Toast';
import { useLine } from './line';
import { RoomRow } from './room/RoomRow';
import { AddPasskey } from './AddPasskey';

// many is from how many rooms on a search helps.
const many = 5;

export default function Rooms() {
  const now = store.value;
  const [sought, setSought] = useState('');
  const line = useLine(now);
  useAppBadge(now?.rooms.unread.value ?? 0);
  useRestored(now?.restored.value ?? 0);
  const [mine, others] = [now?.rooms.mine.value ?? [], now?.rooms.others.value ?? []];
  const found = [mine, others].map((rooms) => rooms.filter((room) => matches(room, sought))) as [RoomView[], RoomView[]];
  const waiting = !now || (mine.length === 0 && !now.synced.value);
  return (
    <Screen title="Rooms" sub={line} actions={<Button kind="quiet" icon="plus" label="New room" onClick={() => go('/ui/new-room')} />}>
      <AddPasskey />
      {mine.length + others.length >= many && <Search value={sought} onValue={setSought} />}
      {waiting ? <Spinner /> : <Found mine={found[0]} others={found[1]} sought={sought} />}
    </Screen>
  );
}

function Found({ mine, others, sought }: { mine: RoomView[]; others: RoomView[]; sought: string }) {
  const path = place.value.path;
  const rows = (rooms: RoomView[]) => rooms.map((room) => <RoomRow key={room.room_id} room={room} current={`${path}/`.startsWith(`/ui/rooms/${room.room_id}/`)} />);
  if (mine.length + others.length === 0) {
    return (
      <Empty icon="room" title={sought ? 'No room has that name' : 'No rooms yet'}>
        {!sought && (
          <Button kind="primary" onClick={() => go('/ui/new-room')}>
            Make the first one
          </Button>
        )}
      </Empty>
    );
  }
  return (
    <>
      {mine.length > 0 && <List label="Your rooms">{rows(mine)}</List>}
      {others.length > 0 && (
        <>
          <h2 class="list-title">Rooms you may join</h2>
          <List label="Rooms you may join">{rows(others)}</List>
        </>
      )}
    </>
  );
}

function Search({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  return (
    <div class="search" role="search">
      <input class="input" type="search" dir="auto" aria-label="Search rooms" placeholder="Search rooms" value={value} onInput={(e) => onValue(e.currentTarget.value)} onKeyDown={(e) => e.key === 'Escape' && onValue('')} />
    </div>
  );
}

function matches(room: RoomView, sought: string): boolean {
  return room.name.toLocaleLowerCase().includes(sought.trim().toLocaleLowerCase());
}

// useAppBadge shows the number of unread messages on the installed app's icon, soon
// after it has changed.
function useAppBadge(n: number) {
  useEffect(() => {
    const { setAppBadge } = navigator as Navigator & { setAppBadge?: (n: number) => Promise<void> };
    const timer = setTimeout(() => void setAppBadge?.call(navigator, n).catch(() => undefined), 500);
    return () => clearTimeout(timer);
  }, [n]);
}

// useRestored tells that the server isn't what it was, so that what one remembers may
// be missing.
function useRestored(times: number) {
  useEffect(() => {
    if (times > 0) toast('The server was set back to an earlier state. Everything was read anew.', { sticky: true });
  }, [times]);
}
