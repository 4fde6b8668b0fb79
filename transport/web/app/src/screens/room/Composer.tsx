// Where one writes. Nothing that happens in the room draws it anew, so that typing
// stays smooth while a hundred messages a second arrive.
//
// The field, sending and drafts are here. All else — completing names and commands, keys of
// Markdown, files — comes with ComposerMore, which is fetched once the room is shown. Its
// places are kept until then.

import './Composer.css';
import { untracked } from '@preact/signals';
import type { RefObject, TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { enterSends } from '../../device';
import type { Named } from '../../store/db';
import { number, oneLine, utf8 } from '../../text';
import type { Message } from '../../types';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { memo } from '../../ui/memo';
import { failed } from '../../ui/Toast';
import { more, t } from '../../words';
import { orLeft } from '../Person';
import type { Field } from './ComposerMore';
import type { Talk } from './talk';
import { whoIs, wordsOf } from './who';

interface Props {
  talk: Talk;
  label: string;
  placeholder: string;
  // limit is how many bytes of UTF-8 a message may have.
  limit: number;
  input: RefObject<HTMLTextAreaElement | null>;
  // onUp is called when the arrow up leads out of an empty field.
  onUp: () => void;
}

let extra: typeof import('./ComposerMore') | undefined;

export const Composer = memo(function Composer({ talk, label, placeholder, limit, input, onUp }: Props) {
  const id = useId(); // a room and a thread may be side by side
  const draft = untracked(() => talk.draft());
  // A message that is edited is in the field instead of a new one: what was being written comes back at its end.
  const editing = talk.editing.value;
  const stop = () => (talk.editing.value = null);
  const [written, setWritten] = useState(draft?.text ?? '');
  const [edited, setEdited] = useState('');
  const text = editing ? edited : written;
  const setText = editing ? setEdited : setWritten;
  const [chosen, setChosen] = useState<Named[]>(draft?.mentions ?? []);
  const [problem, setProblem] = useState('');
  const field = useRef<Field>(null);
  const reply = talk.reply.value;
  const files = editing ? [] : talk.files();
  const left = limit - utf8(text.trim());
  const ready = (text.trim() !== '' || files.length > 0) && left >= 0 && !files.some((f) => f.state === 'failed');
  const parts = useExtra();

  useDraft(talk, written, chosen);
  useEffect(() => {
    if (reply || editing) input.current?.focus();
  }, [reply, editing]);
  useLayoutEffect(() => {
    if (editing) setEdited(editing.body.text);
  }, [editing]);

  const change = (now: string) => {
    setText(now);
    setProblem('');
  };
  const finish = () => {
    setText('');
    setChosen([]);
    setProblem('');
  };
  const save = (of: Message, said: string) => {
    const named = (of.body.mentions ?? []).filter((id) => id !== '@room').map((id): Named => [whoIs(id).name, id]);
    if (said === of.body.text) stop();
    else if (parts) talk.edit(of, said, parts.mentioned(said, [...named, ...chosen])).then(stop, failed);
  };
  const send = () => {
    if (!ready) return;
    const said = text.trim();
    const told = parts?.commandIn(said);
    const mentions = parts?.mentioned(said, chosen) ?? [];
    const tell = () => {
      talk.send(parts?.unescaped(said) ?? said, {
        ...(mentions.length > 0 && { mentions }),
        ...(files.length > 0 && { files: files.map(({ id, name, content }) => ({ id, name, bytes: content.size })) }),
      });
      finish();
    };
    if (editing) save(editing, said);
    else if (!parts && said.startsWith('/')) setProblem(t('app.part')); // what may be a command isn't sent as a message
    else if (told) parts!.obey(told, { talk, chosen, done: finish }).then((now) => (now === 'message' ? tell() : now === 'done' && finish()), (why: unknown) => setProblem(why instanceof Error ? why.message : ''));
    else tell();
  };
  const later = () => {
    const said = text.trim();
    if (said === '' || left < 0) return 'none' as const;
    if (files.length > 0) return 'files' as const;
    if (parts?.commandIn(said)) return 'command' as const;
    return { text: parts?.unescaped(said) ?? said, mentions: parts?.mentioned(said, chosen) ?? [] };
  };
  const onKeyDown = (e: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (e.isComposing || e.keyCode === 229) return; // Enter then ends a word of an input method
    if (field.current?.onKey(e)) return e.preventDefault();
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey || (enterSends.value && !e.shiftKey && !e.altKey))) send();
    else if (e.key === 'Escape' && editing) stop();
    else if (e.key === 'Escape' && reply) talk.reply.value = null;
    else if (e.key === 'ArrowUp' && text === '') onUp();
    else return;
    e.preventDefault();
  };
  const near = left < limit / 10;
  return (
    <form
      class="composer"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      {!talk.thread && <p class="writing-now">{parts && <parts.Writing talk={talk} />}</p>}
      {editing ? <Over icon="edit" title={t('composer.editing')} of={editing} close={t('composer.editing.end')} onClose={stop} /> : reply && <Replying talk={talk} />}
      {near && (
        <p id={`${id}-left`} class={left < 0 ? 'left over' : 'left'} role={left < 0 ? 'alert' : undefined}>
          {left < 0 ? t('composer.over', { n: number(-left) }) : t('composer.left', { n: number(left) })}
        </p>
      )}
      {problem && (
        <p id={`${id}-refused`} class="left over" role="alert">
          {problem}
        </p>
      )}
      {parts && <parts.Above handle={field} talk={talk} text={text} files={files} input={input} onChosen={(one) => setChosen([...chosen, one])} />}
      <div class="writing">
        <div class="adding">{parts && !editing && <parts.Add talk={talk} take={later} onDone={finish} />}</div>
        <div class="growing" data-text={text}>
          <textarea
            ref={input}
            rows={1}
            dir="auto"
            value={text}
            placeholder={placeholder}
            aria-label={label}
            aria-describedby={[near && `${id}-left`, problem && `${id}-refused`].filter(Boolean).join(' ') || undefined}
            aria-invalid={left < 0 ? true : undefined}
            enterkeyhint={enterSends.value ? 'send' : 'enter'}
            onInput={(e) => change(e.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        {parts && <parts.Voice talk={talk} offered={!editing && text === '' && files.length === 0} />}
        <div class="later">{parts && !editing && <parts.LaterMenu talk={talk} take={later} onDone={finish} />}</div>
        <Button type="submit" kind="primary" icon={editing ? 'check' : 'send'} label={t(editing ? 'composer.save' : 'composer.send')} disabled={!ready} onPointerDown={keepFocus} />
      </div>
    </form>
  );
});

// keepFocus lets a press of the button leave the focus in the field, so that the
// keyboard of a phone stays up.
const keepFocus = (e: Event) => e.preventDefault();

// useExtra is ComposerMore, as soon as it has come.
function useExtra() {
  const [, again] = useState(0);
  useEffect(() => {
    if (extra) return;
    let shown = true;
    void Promise.all([import('./ComposerMore'), more()]).then(
      ([module]) => {
        extra = module;
        if (shown) again(1);
      },
      () => undefined, // one can write without it
    );
    return () => {
      shown = false;
    };
  }, []);
  return extra;
}

function Replying({ talk }: { talk: Talk }) {
  const message = talk.reply.value;
  if (!message) return null;
  const who = whoIs(message.sender_id);
  const title = (
    <>
      {who.mine ? t('composer.reply.self') : t('composer.reply', { name: who.name })}
      {orLeft(who.id)}
    </>
  );
  return <Over icon="reply" title={title} of={message} close={t('composer.reply.end')} onClose={() => (talk.reply.value = null)} />;
}

interface OverProps {
  icon: 'reply' | 'edit';
  title: preact.ComponentChildren;
  of: Message;
  close: string;
  onClose: () => void;
}

// Over is the message above the field that the text is for.
function Over({ icon, title, of, close, onClose }: OverProps) {
  return (
    <div class="chip">
      <Icon name={icon} size={20} />
      <p class="quote">
        <span class="name">{title}</span>
        <span class="words" dir="auto">
          {oneLine(wordsOf(of).slice(0, 300))}
        </span>
      </p>
      <Button kind="quiet" icon="close" label={close} onPointerDown={keepFocus} onClick={onClose} />
    </div>
  );
}

// useDraft keeps what is written, and what it replies to, until it is sent.
function useDraft(talk: Talk, text: string, chosen: readonly Named[]) {
  const first = useRef(true);
  const replyTo = talk.reply.value?.msg_id ?? null;
  useEffect(() => {
    const kept = untracked(() => talk.draft()?.reply_to);
    if (kept) void talk.store.message(talk.roomId, kept).then((message) => (talk.reply.value ??= message), () => undefined);
  }, []);
  // Before anything else can happen, since that may be a reload.
  useLayoutEffect(() => {
    if (first.current) first.current = false;
    else talk.keepDraft({ text, reply_to: replyTo, ...(chosen.length > 0 && { mentions: [...chosen] }) });
  }, [text, replyTo]);
}
