// What the screens of a room and of a thread have around their messages: keys that one types go
// where one writes, and what is opened of a message lies above it.

import type { ComponentChildren, RefObject, TargetedKeyboardEvent } from 'preact';
import { lazy } from '../../ui/lazy';
import type { Talk } from './talk';

const MessageMenu = lazy(() => import('./MessageMenu'));
const Picker = lazy(() => import('./Picker'));
const Remind = lazy(() => import('../../notify/Remind'));
const Forward = lazy(() => import('./Forward'));
const Asked = lazy(() => import('./Asked'));
const Versions = lazy(() => import('./Versions'));
const Readers = lazy(() => import('./Readers'));
const MessageDetails = lazy(() => import('./MessageDetails'));

export function Talking({ talk, input, children }: { talk: Talk; input: RefObject<HTMLTextAreaElement | null>; children: ComponentChildren }) {
  return (
    <div class="room" onKeyDown={(e) => typeOn(e, input.current)}>
      {children}
      {talk.menu.value && <MessageMenu key={talk.menu.value.message.msg_id} talk={talk} {...talk.menu.value} />}
      {talk.picking.value && <Picker talk={talk} message={talk.picking.value} />}
      {talk.reminding.value && <Remind roomId={talk.roomId} msgId={talk.reminding.value.message.msg_id} what={talk.reminding.value.note} onClose={() => (talk.reminding.value = null)} />}
      {talk.forwarding.value && <Forward message={talk.forwarding.value} onClose={() => (talk.forwarding.value = null)} />}
      {(talk.polling.value ?? talk.planning.value ?? talk.calling.value) !== null && <Asked talk={talk} />}
      {talk.versions.value && <Versions talk={talk} message={talk.versions.value} />}
      {talk.reading.value && <Readers talk={talk} message={talk.reading.value} />}
      {talk.details.value && <MessageDetails talk={talk} message={talk.details.value} />}
    </div>
  );
}

// typeOn has what one types anywhere in the room go where one writes.
function typeOn(e: TargetedKeyboardEvent<HTMLElement>, input: HTMLTextAreaElement | null) {
  if (e.key.length !== 1 || e.key === ' ' || e.ctrlKey || e.metaKey || e.altKey) return;
  if ((e.target as HTMLElement).matches('h1, .virtual, .bubble')) input?.focus();
}
