// What a screen reader is told while a room is open: new messages, and those of one's
// own that didn't go out.

import { useEffect, useRef } from 'preact/hooks';
import type { RoomView } from '../../store/rooms';
import type { Store } from '../../store/sync';
import { announce } from '../../ui/Announcer';
import { whoIs, wordsOf } from './who';
import { t } from '../../words';

export function useSpoken(store: Store, room: RoomView): void {
  const messages = room.messages ?? room.last_seq;
  const last = useRef(messages);
  const failed = store.outbox.entries.value.filter((entry) => entry.room_id === room.room_id && entry.state === 'failed').length;
  const before = useRef(failed);
  useEffect(() => {
    const news = messages - last.current;
    const message = room.last_message;
    last.current = messages;
    if (news <= 0 || !message) return;
    const who = whoIs(message.sender_id);
    if (news > 1) announce(t('talk.news', { n: news }));
    else if (message.type === 'system') announce(wordsOf(message));
    else if (!who.mine) announce(t('rooms.said', { who: who.name, text: message.body.text }));
  }, [messages]);
  useEffect(() => {
    if (failed > before.current) announce(t('talk.notsent'));
    before.current = failed;
  }, [failed]);
}
