// Small pieces of text with a meaning of their own.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ago, brief, clock, date, end, full } from '../time';
import { short } from '../text';
import { t } from '../words';
import { Button } from './Button';
import { failed } from './Toast';

const forms = { ago, brief, clock, date, end, full };

// Time is a time for people, exact when pointed at.
export function Time({ at, as = 'brief' }: { at: string; as?: keyof typeof forms }) {
  return (
    <time dateTime={at} title={full(at)}>
      {forms[as](at)}
    </time>
  );
}

// Hash is a hash or id in short, whole when pointed at.
export function Hash({ value }: { value: string }) {
  return (
    <code class="hash" title={value}>
      {short(value)}
    </code>
  );
}

// Copy puts a text on the clipboard.
export function Copy({ text, label = t('do.copy'), wide }: { text: string; label?: string; wide?: boolean }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 2000);
    } catch {
      failed(new Error(t('do.copy.failed')));
    }
  };
  return (
    <Button icon={done ? 'check' : 'copy'} wide={wide} onClick={copy}>
      {done ? t('do.copied') : label}
    </Button>
  );
}

// Secret is a text to copy: a link, a token, a configuration.
export function Secret({ label, text }: { label: string; text: string }) {
  return (
    <div class="secret">
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <Copy text={text} />
    </div>
  );
}

// Badge is a word or number that stands out.
export function Badge({ kind = 'neutral', children }: { kind?: 'neutral' | 'accent' | 'mention' | 'good' | 'bad' | 'warn'; children: string | number }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

// Facts is a list of names and values.
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
