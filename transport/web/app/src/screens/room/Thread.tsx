// A thread: the message that began it, the answers to it, and where one answers.

import { useState } from 'preact/hooks';
import { at, get, query } from '../../api';
import { enterSends } from '../../device';
import type { ScreenProps } from '../../router';
import { store } from '../../store';
import { rowOf, isDeleted } from '../../store/entries';
import type { Outgoing } from '../../store/db';
import type { Entry, Message } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Failed } from '../../ui/Empty';
import { Screen } from '../../ui/Screen';
import { Spinner } from '../../ui/Spinner';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import Attached from './files/Attached';
import { Said } from './Said';
import { whoIs, wordsOf } from './who';

interface Page {
  root: Entry;
  entries: Entry[];
  next_cursor: number | null;
}

// read reads a thread whole; a page has 200 answers.
async function read(roomId: string, msgId: string, signal: AbortSignal): Promise<{ root: Message; answers: Message[] }> {
  const answers: Message[] = [];
  for (let cursor: number | null | undefined; ; ) {
    const page: Page = await get<Page>(at`/api/rooms/${roomId}/entries/${msgId}/thread` + query({ cursor, limit: 200 }), { signal });
    answers.push(...page.entries.map(rowOf));
    cursor = page.next_cursor;
    if (cursor === null) return { root: rowOf(page.root), answers };
  }
}

export default function Thread({ params }: ScreenProps) {
  const [roomId, msgId] = [params.id!, params.message!];
  const now = store.value;
  const seq = now?.rooms.get(roomId)?.last_seq; // whatever comes may be an answer, or change one
  const { data, problem, reload } = useLoad((signal) => read(roomId, msgId, signal), [roomId, msgId, seq]);
  const waiting = now?.outbox.entries.value.filter((entry) => entry.room_id === roomId && entry.thread === msgId) ?? [];
  return (
    <Screen title={t('thread.title')} above={`/ui/rooms/${roomId}`} foot={data && <Answer onSend={(text) => void now?.answer(roomId, msgId, text, [])} />}>
      {!data && (problem ? <Failed problem={problem} onRetry={reload} /> : <Spinner />)}
      {data && (
        <div class="thread" role="log" aria-label={t('thread.title')}>
          <One message={data.root} />
          <hr />
          {data.answers.length + waiting.length === 0 && <p class="soft">{t('thread.none')}</p>}
          {data.answers.map((message) => <One key={message.msg_id} message={message} />)}
          {waiting.map((outgoing) => <Waiting key={outgoing.id} outgoing={outgoing} />)}
        </div>
      )}
    </Screen>
  );
}

function One({ message }: { message: Message }) {
  const who = whoIs(message.sender_id);
  return (
    <article class="message first">
      <span class="face">
        <Avatar id={who.id} name={who.name} icon={who.agent ? 'tool' : undefined} size="small" />
      </span>
      <div class="column">
        <p class="small">
          <bdi class="name">{who.name}</bdi>{' '}
          <span class="soft">
            <Time at={message.sent_at} as="clock" /> {message.edited && t('talk.edited')}
          </span>
        </p>
        <div class={isDeleted(message) ? 'prose soft' : 'prose'} dir="auto">
          {isDeleted(message) ? t('versions.gone') : <Said text={wordsOf(message)} mentions={message.body.mentions} />}
        </div>
        {message.attachments.length > 0 && <Attached files={message.attachments} room={message.room_id} />}
      </div>
    </article>
  );
}

function Waiting({ outgoing }: { outgoing: Outgoing }) {
  const failed = outgoing.state === 'failed';
  return (
    <article class="message first">
      <div class="column">
        <p class="small soft">{t(failed ? 'thread.failed' : 'thread.waiting')}</p>
        <p class="prose" dir="auto">
          {outgoing.text}
        </p>
        {failed && (
          <Button kind="quiet" icon="refresh" onClick={() => void store.value?.retry(outgoing.id)}>
            {t('do.retry')}
          </Button>
        )}
      </div>
    </article>
  );
}

// Answer is where one answers: the field grows with its text, and keys do what they do in the room.
function Answer({ onSend }: { onSend: (text: string) => void }) {
  const [text, setText] = useState('');
  const send = () => {
    if (text.trim() === '') return;
    onSend(text.trim());
    setText('');
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.isComposing || e.keyCode === 229) return; // Enter then ends a word of an input method
    if (e.key !== 'Enter' || !(e.ctrlKey || e.metaKey || (enterSends.value && !e.shiftKey && !e.altKey))) return;
    e.preventDefault();
    send();
  };
  return (
    <form
      class="answer"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      <div class="growing" data-text={text}>
        <textarea
          rows={1}
          dir="auto"
          value={text}
          placeholder={t('thread.field')}
          aria-label={t('thread.field')}
          enterkeyhint={enterSends.value ? 'send' : 'enter'}
          onInput={(e) => setText(e.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <Button type="submit" kind="primary" icon="send" label={t('thread.send')} disabled={text.trim() === ''} onPointerDown={(e) => e.preventDefault()} />
    </form>
  );
}
