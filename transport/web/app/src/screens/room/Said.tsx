// What a message says. A text without markup is drawn at once; any other one as it was
// written, until the parser has come, which the first of them fetches.

import './Said.css';
import type { ComponentChildren, ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { linked } from '../../text';
import { isPlain } from '../../ui/markdown/plain';
import type { Props as FormattedProps } from '../../ui/markdown/Formatted';
import { more } from '../../words';
import { whoIs } from './who';

let Formatted: ComponentType<FormattedProps> | undefined;

export function Said({ text, mentions = [] }: { text: string; mentions?: readonly string[] }) {
  const [, again] = useState(0);
  const [asked, setAsked] = useState(false);
  const mark = marker(mentions);
  if (!isPlain(text)) {
    if (Formatted) return <Formatted text={text} kind="message" mark={mark} />;
    if (!asked) {
      setAsked(true);
      const load = Promise.all([import('../../ui/markdown/Formatted'), more()]);
      load.then(
        ([module]) => {
          Formatted = module.default;
          again((n) => n + 1);
        },
        () => undefined, // without a network it stays as it was written
      );
    }
  }
  return (
    <>
      {linked(text).map((part, i) =>
        typeof part === 'string' ? mark(part) : (
          <a key={i} href={part.href} target="_blank" rel="noopener noreferrer">
            {part.href}
          </a>
        ),
      )}
    </>
  );
}

// marker draws the names of those who are mentioned, as the text shows them: "@Ana".
function marker(mentions: readonly string[]): (words: string) => ComponentChildren {
  if (mentions.length === 0) return (words) => words;
  const mine = new Map(mentions.map((id) => (id === '@room' ? ['@room', true] : [`@${whoIs(id).name}`, whoIs(id).mine])));
  const names = [...mine.keys()].sort((a, b) => b.length - a.length).map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const found = new RegExp(`(${names.join('|')})`);
  return (words) =>
    words.split(found).map((part, i) =>
      i % 2 === 0 ? part : (
        <bdi key={i} class={mine.get(part) ? 'mention me' : 'mention'}>
          {part}
        </bdi>
      ),
    );
}
