// Who has read one's newest message, below it, in a room of few people.

import { useEffect, useState } from 'preact/hooks';
import { at, get } from '../../api';
import type { Message, ReadMark } from '../../types';
import { rich, t } from '../../words';
import type { Talk } from './talk';
import { whoIs } from './who';

// Between two looks lies first, twice as long each time, up to most, in ms.
const first = 500;
const most = 30_000;

// readersOf are the marks of a room, of as many as a page has.
export const readersOf = (roomId: string, signal?: AbortSignal) => get<{ readers: ReadMark[]; next_cursor: string | null }>(at`/api/rooms/${roomId}/readers?limit=500`, { signal, quiet: true });

export default function ReadBy({ talk, message }: { talk: Talk; message: Message }) {
  const others = talk.people.value.filter((id) => id !== message.sender_id);
  const readers = useReaders(talk, message, others);
  const name = (id: string) => <bdi>{whoIs(id).name}</bdi>;
  const [one, two] = readers;
  return (
    <button type="button" tabIndex={-1} onClick={() => (talk.reading.value = message)}>
      {!one ? t('read.sent')
        : others.length === 1 ? t('read.read')
        : readers.length === others.length ? t('read.everyone')
        : readers.length > 2 ? t('read.many', { n: readers.length })
        : two ? rich('read.two', { name: name(one), other: name(two) })
        : rich('read.one', { name: name(one) })}
    </button>
  );
}

// useReaders are those of the others who have read a message. It looks again, less and less
// often, until all have; and soon when something comes, since who writes has read.
function useReaders({ store, roomId }: Talk, { room_seq }: Message, others: readonly string[]): readonly string[] {
  const [ids, setIds] = useState<readonly string[]>([]);
  const last = store.rooms.get(roomId)?.last_seq;
  const live = store.connection.value === 'live';
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    let wait = first;
    let timer: ReturnType<typeof setTimeout>;
    const again = () => {
      timer = setTimeout(() => void look(), wait);
      wait = Math.min(most, wait * 2);
    };
    const look = async () => {
      const found = document.hidden ? null : await readersOf(roomId, over.signal).catch(() => null);
      if (over.signal.aborted) return;
      const read = found?.readers.filter((mark) => mark.read_seq >= room_seq && others.includes(mark.user_id)).map((mark) => mark.user_id);
      if (read) setIds(read);
      if (read?.length !== others.length) again();
    };
    again();
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [roomId, room_seq, last, live, others.length]);
  return ids;
}
