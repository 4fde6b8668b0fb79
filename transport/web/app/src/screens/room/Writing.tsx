// Who else is writing in the room, and telling others that one is. Nothing of it is kept: each
// telling holds for 5 seconds.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, at, post } from '../../api';
import type { RoomEvent } from '../../types';
import { rich, t } from '../../words';
import type { Talk } from './talk';
import { whoIs } from './who';

// holds is how long a telling is believed, and every how often one's own is repeated, in ms.
const holds = 5000;
const every = 3000;

// Writing says so in a line whose place is always there.
export function Writing({ talk }: { talk: Talk }) {
  const [first, second, ...others] = useWriting(talk);
  if (!first) return null;
  const name = (id: string) => <bdi>{whoIs(id).name}</bdi>;
  let words: ComponentChildren = t('writing.many');
  if (!second) words = rich('writing.one', { name: name(first) });
  else if (others.length === 0) words = rich('writing.two', { name: name(first), other: name(second) });
  return (
    <>
      <span class="dots" aria-hidden="true">
        <i /> <i /> <i />
      </span>
      <span>{words}</span>
    </>
  );
}

// useWriting are the ids of those who are writing now, who began first in front. Only a page that
// is looked at asks for it.
function useWriting({ store, roomId }: Talk): readonly string[] {
  const [ids, setIds] = useState<readonly string[]>([]);
  const live = store.connection.value === 'live';
  useEffect(() => {
    if (!live) return;
    const ends = new Map<string, ReturnType<typeof setTimeout>>();
    const show = () => setIds([...ends.keys()]);
    const stop = (id: string) => {
      clearTimeout(ends.get(id));
      if (ends.delete(id)) show();
    };
    const take = (event: RoomEvent) => {
      if (event.event !== 'room.typing' || event.payload.user_id === store.who.user_id) return;
      const { user_id: id, until } = event.payload;
      const left = Math.min(holds, Date.parse(until) - Date.parse(event.ts)); // by the server's clock alone
      if (!(left > 0)) return stop(id);
      store.people.meet([id]);
      clearTimeout(ends.get(id));
      ends.set(id, setTimeout(() => stop(id), left));
      show();
    };
    let open: AbortController | null = null;
    const look = () => {
      if (document.hidden) {
        open?.abort();
        open = null;
        [...ends.keys()].forEach(stop);
      } else if (!open) {
        open = new AbortController();
        store.listen(roomId, take, open.signal);
      }
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      open?.abort();
      [...ends.keys()].forEach(stop);
    };
  }, [roomId, live]);
  return ids;
}

// useTelling tells the room that one is writing, as long as the text grows. What is sent ends it;
// what is deleted again is forgotten by itself. A command is no message.
export function useTelling({ store, roomId }: Talk, text: string): void {
  const first = useRef(true);
  const told = useRef(0);
  const refused = useRef(false);
  useEffect(() => {
    if (first.current) {
      first.current = false; // what was a draft
      return;
    }
    if (text.trim() === '') told.current = 0;
    const now = Date.now();
    const due = text.trim() !== '' && !text.startsWith('/') && now - told.current >= every;
    if (!due || refused.current || store.connection.peek() !== 'live' || !document.activeElement?.matches('.composer textarea')) return;
    told.current = now;
    post(at`/api/rooms/${roomId}/typing`, { typing: true }, { quiet: true }).catch((problem: unknown) => {
      refused.current = problem instanceof ApiError && !problem.mayRetry; // one may not write here
    });
  }, [text]);
}
