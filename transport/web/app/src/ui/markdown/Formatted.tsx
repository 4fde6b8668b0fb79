// A text as formatted text: the tree of parse.ts, drawn as elements.

import './markdown.css';
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { Link } from '../../router';
import { t } from '../../words';
import { Code, visible } from './Code';
import { parse, type Element, type Node } from './parse';

export interface Props {
  text: string;
  kind: 'message' | 'document';
  // mark draws what has a meaning within a run of words, as the names of those mentioned.
  mark?: (words: string) => ComponentChildren;
  // onTick is called for a task that is ticked; without it tasks are only shown.
  onTick?: (line: number, done: boolean) => void;
}

const As = createContext<Pick<Props, 'kind' | 'mark' | 'onTick'>>({ kind: 'message' });

export default function Formatted({ text, kind, mark, onTick }: Props) {
  const nodes = useMemo(() => parse(text), [text]);
  return (
    <As.Provider value={{ kind, mark, onTick }}>
      <div class={kind === 'message' ? 'formatted lines' : 'formatted'} dir="auto">
        <Nodes of={nodes} />
      </div>
    </As.Provider>
  );
}

function Nodes({ of }: { of: readonly Node[] }) {
  const { mark } = useContext(As);
  return <>{of.map((node, i) => (typeof node === 'string' ? (mark?.(node) ?? node) : <Drawn key={i} of={node} />))}</>;
}

function Drawn({ of }: { of: Element }) {
  const { kind } = useContext(As);
  const inside = <Nodes of={of.children} />;
  switch (of.tag) {
    case 'p':
      return <p dir="auto">{inside}</p>;
    case 'strong':
      return <strong>{inside}</strong>;
    case 'em':
      return <em>{inside}</em>;
    case 's':
      return <s>{inside}</s>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote dir="auto">{inside}</blockquote>;
    case 'ul':
      return <ul dir="auto">{inside}</ul>;
    case 'ol':
      return (
        <ol dir="auto" start={Number(of.attrs.start ?? 1)}>
          {inside}
        </ol>
      );
    case 'li':
      return of.done === undefined ? <li>{inside}</li> : <Task of={of} />;
    case 'a':
      return <Away href={of.attrs.href ?? ''} of={of} />;
    case 'code':
      return <code>{visible(textOf(of))}</code>;
    case 'pre':
      return <Code text={textOf(of)} language={of.info} />;
    case 'table':
      return (
        <div class="table" role="group" aria-label={t('markdown.table')} tabIndex={0}>
          <table>{inside}</table>
        </div>
      );
    case 'thead':
      return <thead>{inside}</thead>;
    case 'tbody':
      return <tbody>{inside}</tbody>;
    case 'tr':
      return <tr>{inside}</tr>;
    case 'th':
      return <th class={sideOf(of)}>{inside}</th>;
    case 'td':
      return <td class={sideOf(of)}>{inside}</td>;
  }
  if (!/^h[1-6]$/.test(of.tag)) return inside;
  // The screen's own title stands above those of a document, and a room's above a message.
  const level = Math.min(6, Number(of.tag[1]) + (kind === 'document' ? 1 : 2));
  return (
    <p class={`heading ${of.tag}`} role="heading" aria-level={level} dir="auto">
      {inside}
    </p>
  );
}

function Task({ of }: { of: Element }) {
  const { onTick } = useContext(As);
  return (
    <li class="task">
      <label>
        <input type="checkbox" checked={of.done} disabled={!onTick} onChange={(e) => onTick?.(of.line ?? -1, e.currentTarget.checked)} />
        <span>
          <Nodes of={of.children.filter((node) => !isList(node))} />
        </span>
      </label>
      <Nodes of={of.children.filter(isList)} />
    </li>
  );
}

const isList = (node: Node) => typeof node === 'object' && (node.tag === 'ul' || node.tag === 'ol');

// Away is a link. Where its words look like an address and it leads to another, the true
// one stands behind it.
function Away({ href, of }: { href: string; of: Element }) {
  const words = textOf(of);
  const url = new URL(href);
  if (url.origin === location.origin && url.pathname.startsWith('/ui/')) return <Link to={url.pathname + url.search}><Nodes of={of.children} /></Link>;
  const feigned = url.protocol !== 'mailto:' && /\w[./]\w/.test(words) && !words.toLowerCase().includes(url.host);
  return (
    <>
      <a href={href} title={href} target="_blank" rel="noopener noreferrer">
        <Nodes of={of.children} />
      </a>
      {feigned && <bdi class="soft"> ({url.host})</bdi>}
    </>
  );
}

const textOf = (of: Element): string => of.children.map((node) => (typeof node === 'string' ? node : textOf(node))).join('');

// sideOf is where a column's cells stand; markdown-it says it as a style.
const sideOf = ({ attrs }: Element) => /(left|right|center)/.exec(attrs.style ?? '')?.[1];
