// What the composer has besides its field, fetched when a room is shown: names and commands
// are completed, keys set marks of Markdown, and files are taken up.
//
// The field stays a text field: the list belongs to it by aria-controls, and the chosen row
// by aria-activedescendant, so that the focus never leaves what one writes.

import './ComposerMore.css';
import type { RefObject } from 'preact';
import { useEffect, useId, useImperativeHandle, useState } from 'preact/hooks';
import { at, get } from '../../api';
import { enterSends } from '../../device';
import type { Named, Upload } from '../../store/db';
import type { Member } from '../../types';
import { announce } from '../../ui/Announcer';
import { Avatar } from '../../ui/Avatar';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { oneLine } from '../../text';
import { t } from '../../words';
import { commands } from './ComposerCommands';
import { descriptionOf, found, titleOf } from './calling';
import { continued, matching, prefixed, wanted, wrapped, type Candidate, type Edit } from './ComposerText';
import { toolbar } from './files/Add';
import { Strip, useFiles } from './files/Strip';
import type { Talk } from './talk';
import { usable, type Usable } from './usable';
import { whoIs } from './who';
import { useTelling } from './Writing';

export { commandIn, obey, unescaped } from './ComposerCommands';
export { mentioned } from './ComposerText';
export { Add } from './files/Add';
export { Voice } from './files/Voice';
export { LaterMenu } from './Later';
export { Writing } from './Writing';

// Field is what the composer asks of this module while one types.
export interface Field {
  // onKey tells whether it has done what a key is for.
  onKey(e: KeyboardEvent): boolean;
}

interface Props {
  handle: RefObject<Field | null>;
  talk: Talk;
  text: string;
  files: readonly Upload[];
  input: RefObject<HTMLTextAreaElement | null>;
  onChosen: (one: Named) => void;
}

interface Choice {
  key: string;
  label: string;
  hint?: string;
  face?: Candidate;
  tool?: boolean;
  take: () => void;
}

export function Above({ handle, talk, text, files, input, onChosen }: Props) {
  const listId = useId();
  const [caret, setCaret] = useState(0);
  const [row, setRow] = useState(0);
  const [shut, setShut] = useState<string | null>(null); // the text at which the list was closed
  const want = shut === text ? null : wanted(text, Math.min(caret, text.length));
  const tools = useTools(talk, want?.kind === 'command');
  const people = usePeople(talk, want?.kind === 'name');
  useFiles(talk, input);
  useTelling(talk, talk.editing.value || talk.thread ? '' : text); // who reads the room learns of what is written there

  const edit = (e: Edit) => input.current && put(input.current, e);
  const complete = (from: number, words: string) => edit({ from, to: caret, text: words, start: from + words.length, end: from + words.length });
  const choices: Choice[] =
    want?.kind === 'command'
      ? [
          ...commands.filter((c) => c.name.startsWith(want.query.toLowerCase())).map((c) => ({ key: c.name, label: `/${c.name}`, hint: t(c.help), take: () => complete(0, `/${c.name} `) })),
          ...found(tools, want.query).map((u) => ({ key: u.tool.tool, label: `/${u.tool.tool}`, hint: oneLine(descriptionOf(u.tool) || titleOf(u.tool)).slice(0, 200), tool: true, take: () => complete(0, `/${u.tool.tool} `) })),
        ]
      : want
        ? matching(people, want.query).map((c) => ({
            key: c.id,
            label: c.id === '@room' ? '@room' : c.name,
            hint: c.id === '@room' ? t('write.everybody') : c.agent ? t('write.agent') : undefined,
            face: c,
            take: () => {
              if (c.id !== '@room') onChosen([c.name, c.id]);
              complete(want.from, `@${c.name} `);
            },
          }))
        : [];
  const chosen = Math.min(row, choices.length - 1);

  useEffect(() => {
    const field = input.current;
    if (!field) return;
    const moved = () => document.activeElement === field && setCaret(field.selectionStart);
    document.addEventListener('selectionchange', moved);
    field.addEventListener('input', moved);
    return () => {
      document.removeEventListener('selectionchange', moved);
      field.removeEventListener('input', moved);
    };
  }, []);
  useEffect(() => setRow(0), [want?.from, want?.query]);
  useEffect(() => document.getElementById(`${listId}-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen]);
  useEffect(() => {
    if (choices.length > 0) announce(t('write.choices', { n: choices.length }));
  }, [choices.length]);
  useEffect(() => {
    const field = input.current;
    field?.setAttribute('aria-autocomplete', 'list');
    for (const [name, value] of [['aria-controls', listId], ['aria-activedescendant', `${listId}-${chosen}`]] as const) {
      if (choices.length > 0) field?.setAttribute(name, value);
      else field?.removeAttribute(name);
    }
  });

  useImperativeHandle(handle, () => ({
    onKey(e) {
      const field = input.current;
      if (!field) return false;
      if (choices.length > 0 && !e.ctrlKey && !e.metaKey && !e.altKey) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
        if (step) {
          setRow((chosen + step + choices.length) % choices.length);
          return true;
        }
        if ((e.key === 'Enter' && !e.shiftKey) || e.key === 'Tab') {
          choices[chosen]!.take();
          return true;
        }
        if (e.key === 'Escape') {
          setShut(text);
          return true;
        }
      }
      const { selectionStart: start, selectionEnd: end } = field;
      const mark = (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && ({ b: '**', i: '*', e: '`' } as Record<string, string>)[e.key.toLowerCase()];
      if (mark) return put(field, wrapped(text, start, end, mark));
      const breaks = e.key === 'Enter' && !e.ctrlKey && !e.metaKey && !e.altKey && (e.shiftKey || !enterSends.value);
      const next = breaks && start === end ? continued(text, start) : null;
      return next ? put(field, next) : false;
    },
  }));

  const act = (change: (text: string, start: number, end: number) => Edit) => () => {
    const field = input.current;
    if (!field) return;
    field.focus();
    put(field, change(text, field.selectionStart, field.selectionEnd));
  };
  return (
    <>
      {choices.length > 0 && (
        <ul class="completions" id={listId} role="listbox" aria-label={t(want!.kind === 'name' ? 'write.names' : 'write.commands')}>
          {choices.map((c, i) => (
            <li
              key={c.key}
              id={`${listId}-${i}`}
              role="option"
              aria-selected={i === chosen}
              onPointerDown={(e) => {
                e.preventDefault(); // the focus stays in the field
                c.take();
              }}
            >
              {c.face && c.face.id !== '@room' && <Avatar id={c.face.id} name={c.face.name} icon={c.face.agent ? 'tool' : undefined} size="small" />}
              {c.tool && <Icon name="tool" size={20} />}
              <bdi>{c.label}</bdi>
              {c.hint && (
                <span class="soft small" dir="auto">
                  {c.hint}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <Strip talk={talk} files={files} />
      {toolbar.value && (
        <div class="toolbar" role="group" aria-label={t('write.toolbar')}>
          <Tool label={t('write.bold')} show={<strong>B</strong>} onPress={act((x, a, b) => wrapped(x, a, b, '**'))} />
          <Tool label={t('write.italic')} show={<em>I</em>} onPress={act((x, a, b) => wrapped(x, a, b, '*'))} />
          <Tool label={t('write.strike')} show={<s>S</s>} onPress={act((x, a, b) => wrapped(x, a, b, '~~'))} />
          <Tool label={t('write.code')} show={<code>{'<>'}</code>} onPress={act((x, a, b) => (x.slice(a, b).includes('\n') ? wrapped(x, a, b, '\n```\n') : wrapped(x, a, b, '`')))} />
          <Tool label={t('write.list')} show="•" onPress={act((x, a, b) => prefixed(x, a, b, '- '))} />
          <Tool label={t('write.tasks')} show="☑" onPress={act((x, a, b) => prefixed(x, a, b, '- [ ] '))} />
          <Tool label={t('write.quote')} show="❝" onPress={act((x, a, b) => prefixed(x, a, b, '> '))} />
        </div>
      )}
    </>
  );
}

function Tool({ label, show, onPress }: { label: string; show: preact.ComponentChildren; onPress: () => void }) {
  return (
    <Button kind="quiet" class="round" aria-label={label} title={label} onPointerDown={(e) => e.preventDefault()} onClick={onPress}>
      <span aria-hidden="true">{show}</span>
    </Button>
  );
}

// put changes the field as if it was typed, so that the browser can undo it.
function put(field: HTMLTextAreaElement, { from, to, text, start, end }: Edit): true {
  field.focus();
  field.setSelectionRange(from, to);
  const done = document.execCommand(text === '' ? 'delete' : 'insertText', false, text);
  if (!done) {
    field.setRangeText(text, from, to, 'end');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
  field.setSelectionRange(start, end);
  return true;
}

// useTools are those of other servers that one may call; none while that isn't known.
function useTools(talk: Talk, asked: boolean): readonly Usable[] {
  const [tools, setTools] = useState<readonly Usable[]>([]);
  useEffect(() => {
    if (!asked) return;
    let here = true;
    usable(talk.store).then((now) => here && setTools(now), () => undefined);
    return () => void (here = false);
  }, [asked]);
  return tools;
}

// usePeople are those in the room, and everybody at once; of the organisation while the
// server can't say who is in it.
function usePeople(talk: Talk, asked: boolean): Candidate[] {
  const [ids, setIds] = useState<string[] | null>(null);
  useEffect(() => {
    if (!asked || ids) return;
    get<{ members: Member[] }>(at`/api/rooms/${talk.roomId}/members`).then(({ members }) => setIds(members.map((m) => m.user_id)), () => undefined);
  }, [asked]);
  if (!asked) return [];
  const known = talk.store.people.byId.value;
  const all = ids ?? [...known.values()].filter((p) => !p.left).map((p) => p.user_id);
  const people = all.map(whoIs).filter((who) => !who.mine).map(({ id, name, agent }) => ({ id, name, agent }));
  return [...people, { id: '@room', name: 'room', agent: false }];
}
