// A message as people see it: who, what, when, and its receipt.

import { useEffect, useRef, useState } from 'preact/hooks';
import { clock } from '../../time';
import { linked, number, oneLine } from '../../text';
import type { Item } from '../../store/messages';
import type { Outgoing } from '../../store/db';
import type { ImportedFrom, Message } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { Was, wasName } from '../Was';
import { senderOf, timeOf } from './group';
import { useHold } from './hold';
import { Quote } from './Quote';
import { Standing } from './Standing';
import type { Talk } from './talk';
import { whoIs, type Who } from './who';

interface Props {
  item: Item;
  talk: Talk;
  first: boolean;
  last: boolean;
}

export function Bubble({ item, talk, first, last }: Props) {
  const { message, outgoing } = item;
  const who = whoIs(senderOf(item));
  const was = message?.imported_from;
  const text = message?.body.text ?? outgoing!.text;
  const replyTo = message ? message.reply_to : outgoing!.reply_to;
  const failed = outgoing?.state === 'failed';
  const open = (x: number, y: number) => message && (talk.menu.value = { message, x, y });
  const hold = useHold(open);
  const [pointed, setPointed] = useState(false);
  const lit = talk.lit.value === item.key;
  const bubble = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (lit && !document.activeElement?.matches('textarea')) bubble.current?.focus({ preventScroll: true });
  }, [lit]);
  const classes = ['message', who.mine && 'mine', first && 'first', last && 'last', failed && 'failed', lit && 'lit'];
  return (
    <div class={classes.filter(Boolean).join(' ')} onPointerEnter={(e) => setPointed(e.pointerType === 'mouse')} onPointerLeave={() => setPointed(false)}>
      {!who.mine && <span class="face">{first && <Avatar id={who.id} name={who.name} icon={who.agent ? 'tool' : undefined} size="small" />}</span>}
      <div class="column">
        <div
          class="bubble"
          ref={bubble}
          role="article"
          tabIndex={-1}
          aria-label={`${who.mine ? 'You' : who.name}${was ? ` (imported, was ${wasName(was)})` : ''}, ${clock(timeOf(item))}: ${oneLine(text.slice(0, 300))}`}
          aria-haspopup={message ? 'menu' : undefined}
          {...hold}
          onKeyDown={(e) => {
            if (e.key !== 'Enter' || e.target !== e.currentTarget) return;
            e.preventDefault();
            const box = e.currentTarget.getBoundingClientRect();
            open(box.left + 16, Math.max(box.top, 0) + 16);
          }}
        >
          {first && (!who.mine || was) && <Name who={who} was={was} />}
          {replyTo && <Quote talk={talk} msgId={replyTo} />}
          <p class="prose" dir="auto">
            {linked(text).map((part, i) =>
              typeof part === 'string' ? part : (
                <a key={i} href={part.href} target="_blank" rel="noopener noreferrer">
                  {part.href}
                </a>
              ),
            )}
            <span class="meta" dir="ltr">
              <Time at={timeOf(item)} as="clock" />
              {message ? <Mark message={message} talk={talk} /> : <Way outgoing={outgoing!} />}
            </span>
          </p>
        </div>
        {failed && <Failure outgoing={outgoing} talk={talk} />}
      </div>
      {message && pointed && <Tools message={message} talk={talk} onMore={open} />}
    </div>
  );
}

function Name({ who, was }: { who: Who; was?: ImportedFrom }) {
  return (
    <p class="name">
      <bdi title={who.id}>{who.name}</bdi> <Standing of={who} /> <Was of={was} />
    </p>
  );
}

// Mark is the receipt in small, which opens the message's details.
function Mark({ message, talk }: { message: Message; talk: Talk }) {
  const seq = number(message.receipt.seq);
  return (
    <button type="button" class="mark" tabIndex={-1} aria-label={`Receipt ${seq}`} title="Receipt" onClick={() => (talk.details.value = message)}>
      <Icon name="check" size={14} />
      {seq}
    </button>
  );
}

// Way says where a message is that has no receipt yet.
function Way({ outgoing }: { outgoing: Outgoing }) {
  const failed = outgoing.state === 'failed';
  return (
    <span class="way">
      <Icon name={failed ? 'warning' : 'clock'} size={14} />
      <span class="hidden">{failed ? 'Not sent' : 'On its way'}</span>
    </span>
  );
}

// whyNot says in words for people what the server refuses a message for.
const whyNot: Record<string, string> = {
  not_a_member: 'you aren’t in this room any more',
  too_large: 'it is too long for this room',
  forbidden: 'nobody may write here now',
};

function Failure({ outgoing, talk }: { outgoing: Outgoing; talk: Talk }) {
  return (
    <div class="failure">
      <p>Not sent: {outgoing.error && (whyNot[outgoing.error.code] ?? outgoing.error.message)}</p>
      <Button kind="quiet" icon="refresh" onClick={() => void talk.store.retry(outgoing.id)}>
        Try again
      </Button>
      <Button kind="quiet" icon="trash" onClick={() => void talk.store.discard(outgoing.id)}>
        Delete
      </Button>
    </div>
  );
}

// Tools are beside a message that a mouse points at; everyone else has the menu.
function Tools({ message, talk, onMore }: { message: Message; talk: Talk; onMore: (x: number, y: number) => void }) {
  return (
    <div class="tools">
      <Button kind="quiet" icon="reply" label="Reply" tabIndex={-1} onClick={() => (talk.reply.value = message)} />
      <Button kind="quiet" icon="more" label="More" tabIndex={-1} onClick={(e) => onMore(e.clientX, e.clientY)} />
    </div>
  );
}
