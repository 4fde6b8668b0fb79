// Where one writes. Nothing that happens in the room draws it anew, so that typing
// stays smooth while a hundred messages a second arrive.

import './Composer.css';
import { untracked } from '@preact/signals';
import type { RefObject, TargetedKeyboardEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { enterSends } from '../../device';
import { number, oneLine, utf8 } from '../../text';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { memo } from '../../ui/memo';
import { orLeft } from '../Person';
import type { Talk } from './talk';
import { whoIs, wordsOf } from './who';

interface Props {
  talk: Talk;
  name: string;
  // limit is how many bytes of UTF-8 a message may have.
  limit: number;
  input: RefObject<HTMLTextAreaElement | null>;
  // onUp is called when the arrow up leads out of an empty field.
  onUp: () => void;
}

export const Composer = memo(function Composer({ talk, name, limit, input, onUp }: Props) {
  const [text, setText] = useState(() => untracked(() => talk.store.draft(talk.roomId)?.text ?? ''));
  const reply = talk.reply.value;
  const left = limit - utf8(text.trim());
  const ready = text.trim() !== '' && left >= 0;

  useDraft(talk, text);
  useEffect(() => {
    if (reply) input.current?.focus();
  }, [reply]);

  const send = () => {
    if (!ready) return;
    talk.send(text.trim());
    setText('');
  };
  const onKeyDown = (e: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (e.isComposing || e.keyCode === 229) return; // Enter then ends a word of an input method
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey || (enterSends.value && !e.shiftKey && !e.altKey))) send();
    else if (e.key === 'Escape' && reply) talk.reply.value = null;
    else if (e.key === 'ArrowUp' && text === '') onUp();
    else return;
    e.preventDefault();
  };
  return (
    <form
      class="composer"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      {reply && <Chip talk={talk} />}
      {left < limit / 10 && (
        <p id="left" class={left < 0 ? 'left over' : 'left'} role={left < 0 ? 'alert' : undefined}>
          {left < 0 ? `${number(-left)} bytes too long` : `${number(left)} bytes left`}
        </p>
      )}
      <div class="writing">
        <div class="growing" data-text={text}>
          <textarea
            ref={input}
            rows={1}
            dir="auto"
            value={text}
            placeholder="Message"
            aria-label={`Message to ${name}`}
            aria-describedby={left < limit / 10 ? 'left' : undefined}
            aria-invalid={left < 0 ? true : undefined}
            enterkeyhint={enterSends.value ? 'send' : 'enter'}
            onInput={(e) => setText(e.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        <Button type="submit" kind="primary" icon="send" label="Send" disabled={!ready} onPointerDown={keepFocus} />
      </div>
    </form>
  );
});

// keepFocus lets a press of the button leave the focus in the field, so that the
// keyboard of a phone stays up.
const keepFocus = (e: Event) => e.preventDefault();

function Chip({ talk }: { talk: Talk }) {
  const message = talk.reply.value;
  if (!message) return null;
  const who = whoIs(message.sender_id);
  return (
    <div class="chip">
      <Icon name="reply" size={20} />
      <p class="quote">
        <span class="name">
          Reply to <bdi>{who.mine ? 'yourself' : who.name}</bdi>{orLeft(who.id)}
        </span>
        <span class="words" dir="auto">
          {oneLine(wordsOf(message).slice(0, 300))}
        </span>
      </p>
      <Button kind="quiet" icon="close" label="Don’t reply" onPointerDown={keepFocus} onClick={() => (talk.reply.value = null)} />
    </div>
  );
}

// useDraft keeps what is written, and what it replies to, until it is sent.
function useDraft(talk: Talk, text: string) {
  const first = useRef(true);
  const replyTo = talk.reply.value?.msg_id ?? null;
  useEffect(() => {
    const kept = untracked(() => talk.store.draft(talk.roomId)?.reply_to);
    if (kept) void talk.store.message(talk.roomId, kept).then((message) => (talk.reply.value ??= message), () => undefined);
  }, []);
  // Before anything else can happen, since that may be a reload.
  useLayoutEffect(() => {
    if (first.current) first.current = false;
    else talk.store.setDraft({ room_id: talk.roomId, text, reply_to: replyTo });
  }, [text, replyTo]);
}
