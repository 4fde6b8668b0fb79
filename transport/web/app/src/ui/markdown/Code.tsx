// Code as it was written, in colours once the highlighter has come. Characters that one
// can't see, or that turn the order of others round, are shown by their numbers: code
// must not read other than it runs.

import { useEffect, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { Coloured } from './highlight';

// most is the longest code in colours, in characters.
const most = 20_000;

export function Code({ text, language = '' }: { text: string; language?: string }) {
  const [coloured, setColoured] = useState<Coloured[] | null>(null);
  useEffect(() => {
    let shown = true;
    setColoured(null);
    if (language && text.length <= most)
      void import('./highlight').then(
        ({ highlight }) => shown && setColoured(highlight(text, language)),
        () => undefined, // without colours it says the same
      );
    return () => {
      shown = false;
    };
  }, [text, language]);
  return (
    // Focused it can be scrolled by key.
    <pre dir="ltr" tabIndex={0}>
      <code>{coloured ? draw(coloured) : visible(text)}</code>
    </pre>
  );
}

const draw = (nodes: Coloured[]): ComponentChildren =>
  nodes.map((node, i) =>
    typeof node === 'string' ? visible(node) : (
      <span key={i} class={node.kind}>
        {draw(node.children)}
      </span>
    ),
  );

const unseen = /([\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad])/;

// visible shows what can't be seen. The character stays in the text, for who copies it.
export function visible(text: string): ComponentChildren {
  if (!unseen.test(text)) return text;
  return text.split(unseen).map((part, i) =>
    i % 2 === 0 ? part : (
      <span key={i} class="unseen" data-number={`U+${part.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`}>
        {part}
      </span>
    ),
  );
}
