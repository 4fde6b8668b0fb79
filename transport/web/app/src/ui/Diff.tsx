import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { diff, lines, words, type Change } from '../diff';
import './Diff.css';
import { t } from '../words';

const around = 3; // lines without a change that are shown beside one

// Diff shows what became of a text: lines that went, lines that came, and within
// those that changed the words. Long stretches that stayed are left out.
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const changes = useMemo(() => diff(lines(before), lines(after)), [before, after]);
  if (changes.every((c) => c.kind === 'same')) return <p class="soft">{t('diff.same')}</p>;
  return (
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      {changes.map((change, i) => {
        if (change.kind === 'same') return <Same key={i} parts={change.parts} first={i === 0} last={i === changes.length - 1} />;
        const other = change.kind === 'old' ? changes[i + 1] : changes[i - 1];
        return change.parts.map((line, n) => <Line key={`${i}.${n}`} kind={change.kind} text={line} other={partner(change, other)?.[n]} />);
      })}
    </div>
  );
}

// partner is the lines that those of a change became, or came from, where as many
// lines came as went.
function partner(change: Change, other?: Change): string[] | undefined {
  return other && other.kind !== 'same' && other.parts.length === change.parts.length ? other.parts : undefined;
}

function Same({ parts, first, last }: { parts: string[]; first: boolean; last: boolean }) {
  const head = first ? 0 : around;
  const tail = last ? 0 : around;
  const left = parts.length - head - tail;
  const shown = left > 1 ? [parts.slice(0, head), parts.slice(parts.length - tail)] : [parts, []];
  return (
    <>
      {shown[0]!.map((line, n) => <Line key={n} kind="same" text={line} />)}
      {left > 1 && <p class="left">{t('diff.unchanged', { n: left })}</p>}
      {shown[1]!.map((line, n) => <Line key={-1 - n} kind="same" text={line} />)}
    </>
  );
}

const signs = { same: '', old: '−', new: '+' };
const names = { old: 'diff.removed', new: 'diff.added' } as const;

function Line({ kind, text, other }: { kind: Change['kind']; text: string; other?: string }) {
  return (
    <div class={`line-${kind}`}>
      <span class="sign" aria-hidden="true">
        {signs[kind]}
      </span>
      {kind !== 'same' && <span class="hidden">{t(names[kind])} </span>}
      <span class="words" dir="auto">
        {other === undefined ? text : marked(kind, text, other)}
      </span>
    </div>
  );
}

// marked has the words of a line that its other form doesn't have stand out, unless
// hardly any are the same.
function marked(kind: Change['kind'], text: string, other: string): ComponentChildren {
  const parts = kind === 'old' ? diff(words(text), words(other)) : diff(words(other), words(text));
  const own = parts.filter((c) => c.kind === 'same' || c.kind === kind);
  const kept = own.filter((c) => c.kind === 'same').reduce((n, c) => n + c.parts.join('').length, 0);
  if (kept * 3 < text.length) return text;
  return own.map((c, i) => (c.kind === 'same' ? c.parts.join('') : <mark key={i}>{c.parts.join('')}</mark>));
}
