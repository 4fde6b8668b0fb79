// A message as people see it: who, what, when, and its receipt.

import { useEffect, useRef, useState } from 'preact/hooks';
import { clock, hours } from '../../time';
import { number, oneLine } from '../../text';
import type { Item } from '../../store/rows';
import type { Outgoing } from '../../store/db';
import { entryIn, isDeleted, isNews, partsOf } from '../../store/entries';
import type { ImportedFrom, Message } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { Was, wasName } from '../Was';
import { lazy } from '../../ui/lazy';
import { senderOf, timeOf } from './group';
import { useHold } from './hold';
import { Quote } from './Quote';
import { Said } from './Said';
import { Standing } from './Standing';
import type { Talk } from './talk';
import { whoIs, wordsOf, type Who } from './who';
import { whyNot } from './whyNot';
import { t } from '../../words';

const Attached = lazy(() => import('./files/Attached'));
const Form = lazy(() => import('./Form'));
const Poll = lazy(() => import('./Poll'));
const Forwarded = lazy(() => import('./Forwarded'), true);
const Previews = lazy(() => import('./Preview'), true);
const ReadBy = lazy(() => import('./ReadBy'), true);

// few is in how many people's rooms one sees who has read.
const few = 20;

interface Props {
  item: Item;
  talk: Talk;
  first: boolean;
  last: boolean;
  own: boolean; // one's newest
}

export function Bubble({ item, talk, first, last, own }: Props) {
  const { message, outgoing } = item;
  const who = whoIs(senderOf(item));
  const was = message?.imported_from;
  const caller = who.mine ? t('talk.self') : who.name;
  const named = was ? t('talk.imported', { who: caller, was: wasName(was) }) : caller;
  const text = message ? wordsOf(message) : outgoing!.text;
  const [comment, words] = message?.forwarded ? partsOf(message) : ['', text];
  const gone = message && isDeleted(message);
  const forMe = !who.mine && message?.body.mentions?.some((id) => id === '@room' || id === talk.store.who.user_id);
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
  const classes = ['message', who.mine && 'mine', first && 'first', last && 'last', failed && 'failed', lit && 'lit', forMe && 'for-me'];
  return (
    <div class={classes.filter(Boolean).join(' ')} onPointerEnter={(e) => setPointed(e.pointerType === 'mouse')} onPointerLeave={() => setPointed(false)}>
      <span class="face" aria-hidden="true">
        {first ? <Avatar id={who.id} name={who.name} icon={who.agent ? 'tool' : undefined} size="small" /> : hours(timeOf(item))}
      </span>
      <div class="column">
        <div
          class="bubble"
          ref={bubble}
          role="article"
          tabIndex={-1}
          aria-label={t('talk.said', { who: named, at: clock(timeOf(item)), text: gone ? t('talk.deleted', { who: whoDeleted(message) }) : oneLine(text.slice(0, 300)) })}
          aria-haspopup={message ? 'menu' : undefined}
          {...hold}
          onKeyDown={(e) => {
            if (e.key !== 'Enter' || e.target !== e.currentTarget) return;
            e.preventDefault();
            const box = e.currentTarget.getBoundingClientRect();
            open(box.left + 16, Math.max(box.top, 0) + 16);
          }}
        >
          {first && <Name who={who} was={was} />}
          {replyTo && <Quote talk={talk} msgId={replyTo} />}
          {gone ? (
            <p class="gone">{t('talk.deleted', { who: whoDeleted(message) })}</p>
          ) : message?.poll ? (
            <Poll message={message} talk={talk} />
          ) : message?.form ? (
            <Form message={message} talk={talk} />
          ) : (
            <>
              {comment && (
                <div class="prose" dir="auto">
                  <Said text={comment} mentions={message!.body.mentions} />
                </div>
              )}
              {message?.forwarded && <Forwarded message={message} of={message.forwarded} />}
              <div class="prose" dir="auto">
                <Said text={words} mentions={message ? message.body.mentions : outgoing!.mentions} />
              </div>
            </>
          )}
          {!gone && (message?.attachments?.length || outgoing?.files) && (
            <Attached files={message?.attachments ?? []} room={talk.roomId} sending={message ? [] : outgoing?.files} />
          )}
          {!gone && message?.type === 'text' && !message.poll && !message.form && /https?:/.test(text) && <Previews message={message} talk={talk} />}
          <p class="meta">
            {message?.pinned && <Icon name="pin" size={14} />}
            {message?.pinned && <span class="hidden">{t('talk.pinned')}</span>}
            {message?.edited && (
              <button type="button" class="edited" tabIndex={-1} onClick={() => (talk.versions.value = message)}>
                {t('talk.edited')}
              </button>
            )}
            <Time at={timeOf(item)} as="clock" />
            {message ? <Mark message={message} talk={talk} /> : <Way outgoing={outgoing!} />}
          </p>
        </div>
        {message && <Below message={message} talk={talk} />}
        {own && message && talk.people.value.length > 1 && talk.people.value.length <= few && (
          <p class="read-by">
            <ReadBy talk={talk} message={message} />
          </p>
        )}
        {failed && <Failure outgoing={outgoing} talk={talk} />}
      </div>
      {message && pointed && <Tools message={message} talk={talk} onMore={open} />}
    </div>
  );
}

function Name({ who, was }: { who: Who; was?: ImportedFrom }) {
  return (
    <p class={who.mine && !was ? 'name own' : 'name'}>
      <bdi title={who.id}>{who.name}</bdi> <Standing of={who} /> <Was of={was} />
    </p>
  );
}

function whoDeleted(message: Message): string {
  const who = whoIs(entryIn(message)!.redacted!.by);
  return who.mine ? t('talk.you') : who.name;
}

// Below are the reactions to a message, and the way to its thread.
function Below({ message, talk }: { message: Message; talk: Talk }) {
  const { reactions = [] } = message;
  const replies = talk.thread ? undefined : message.replies;
  if (reactions.length === 0 && !replies) return null;
  return (
    <div class="below">
      {reactions.map(({ key, count, by }) => (
        <button
          key={key}
          type="button"
          class="reaction"
          tabIndex={-1}
          aria-pressed={talk.mine(message, key) !== undefined}
          disabled={!talk.rights.value.act}
          aria-label={t('talk.reaction', { key, n: count })}
          title={by.map(({ user_id }) => whoIs(user_id).name).join(', ')}
          onClick={() => talk.react(message, key)}
        >
          {key} <span>{number(count)}</span>
        </button>
      ))}
      {replies && (
        <button type="button" class="replies" tabIndex={-1} onClick={() => talk.openThread(message)}>
          {t('talk.replies', { n: replies.count })}
        </button>
      )}
    </div>
  );
}

// Mark is the receipt in small, which opens the message's details. Its number is in its name alone, and it shows where one points at the
// message, or has the focus on it.
function Mark({ message, talk }: { message: Message; talk: Talk }) {
  return (
    <button type="button" class="mark" tabIndex={-1} aria-label={`${t('talk.receipt')} ${number(message.receipt.seq)}`} title={t('talk.receipt')} onClick={() => (talk.details.value = message)}>
      <Icon name="check" size={14} />
    </button>
  );
}

// Way says where a message is that has no receipt yet.
function Way({ outgoing }: { outgoing: Outgoing }) {
  const failed = outgoing.state === 'failed';
  return (
    <span class="way">
      <Icon name={failed ? 'warning' : 'clock'} size={14} />
      <span class="hidden">{t(failed ? 'talk.unsent' : 'talk.sending')}</span>
    </span>
  );
}

function Failure({ outgoing, talk }: { outgoing: Outgoing; talk: Talk }) {
  return (
    <div class="failure">
      <p>{t('talk.unsent.why', { why: outgoing.error ? whyNot(outgoing.error) : '' })}</p>
      <Button kind="quiet" icon="refresh" onClick={() => void talk.store.retry(outgoing.id)}>
        {t('do.retry')}
      </Button>
      <Button kind="quiet" icon="trash" onClick={() => void talk.store.discard(outgoing.id)}>
        {t('talk.delete')}
      </Button>
    </div>
  );
}

// Tools are beside a message that a mouse points at; everyone else has the menu.
function Tools({ message, talk, onMore }: { message: Message; talk: Talk; onMore: (x: number, y: number) => void }) {
  const { act, answer } = talk.rights.value;
  return (
    <div class="tools">
      {message.type === 'text' && act && <Button kind="quiet" icon="smile" label={t('talk.react')} tabIndex={-1} onClick={() => (talk.picking.value = message)} />}
      {isNews(message) && answer && !talk.thread && <Button kind="quiet" icon="room" label={t('talk.thread')} tabIndex={-1} onClick={() => talk.openThread(message)} />}
      {isNews(message) && talk.mayWrite && <Button kind="quiet" icon="reply" label={t('talk.reply')} tabIndex={-1} onClick={() => (talk.reply.value = message)} />}
      <Button kind="quiet" icon="more" label={t('talk.more')} tabIndex={-1} onClick={(e) => onMore(e.clientX, e.clientY)} />
    </div>
  );
}
