// Markdown as people and agents write it: CommonMark with tables, strikethrough, task
// lists and bare links, without HTML. parse makes a tree of it, which Formatted draws as
// elements: no text ever becomes markup.
//
// What a stranger may write is bounded here: links lead to http, https and mail alone, an
// image is a link to it, and a text that nests deeper than 20, or is too long, is shown as it
// was written.

import MarkdownIt from 'markdown-it';

// longest is the most characters that are formatted.
export const longest = 1_000_000;

const deepest = 20;

// Node is an element, or a text. line is that of the source, from 0, of a list's item.
export type Node = string | Element;

export interface Element {
  tag: string;
  attrs: Readonly<Record<string, string>>;
  children: Node[];
  line?: number;
  // info is the language of a block of code.
  info?: string;
  // done tells of an item of a task list whether it is ticked.
  done?: boolean;
}

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];
type State = Parameters<Parameters<InstanceType<typeof MarkdownIt>['inline']['ruler']['push']>[1]>[0];

const parser = new MarkdownIt({ html: false, maxNesting: deepest });
parser.validateLink = isSafe;
parser.inline.ruler.before('escape', 'address', address);

// address makes a link of a bare one. markdown-it's own finder takes time in the square of
// a hostile text, and takes "read.me" for a page.
function address(state: State, silent: boolean): boolean {
  if (state.src[state.pos] !== ':' || state.linkLevel > 0) return false;
  const scheme = /(?:^|[^\p{L}\p{N}])(https?)$/iu.exec(state.pending.slice(-6))?.[1];
  if (!scheme) return false;
  rest.lastIndex = state.pos;
  const found = rest.exec(state.src);
  const href = scheme + (found?.[0] ?? '');
  if (!found || !isSafe(href)) return false;
  if (!silent) {
    state.pending = state.pending.slice(0, -scheme.length);
    state.push('link_open', 'a', 1).attrs = [['href', href]];
    state.push('text', '', 0).content = href;
    state.push('link_close', 'a', -1);
  }
  state.pos += found[0].length;
  return true;
}

const rest = /:\/\/[^\s<>"`]*[^\s<>"`'.,;:!?)\]}*_~|]/y;

// isSafe tells whether a link may be followed. URL reads it as the browser will.
export function isSafe(href: string): boolean {
  try {
    return ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol);
  } catch {
    return false; // relative ones, too: a message has no place of its own
  }
}

// parse never fails, and takes time in proportion to the text.
export function parse(text: string): Node[] {
  const asWritten: Node[] = [{ tag: 'pre', attrs: {}, children: [text] }];
  if (text.length > longest) return asWritten;
  const tokens = parser.parse(text, {});
  return tokens.some(isDeepest) ? asWritten : tree(tokens);
}

// isDeepest tells of a block that the parser has left empty, since what is in it is too deep.
const isDeepest = ({ type, level }: Token) => (type === 'blockquote_open' || type === 'list_item_open') && level >= deepest - 1;

function tree(tokens: readonly Token[]): Node[] {
  const root: Element = { tag: '', attrs: {}, children: [] };
  const open = [root];
  for (const token of tokens) {
    const into = open.at(-1)!;
    if (token.type === 'inline') into.children.push(...tree(token.children ?? []));
    else if (token.nesting > 0) {
      const element = elementOf(token);
      into.children.push(element);
      open.push(element);
    } else if (token.nesting < 0) {
      const closed = open.length > 1 ? open.pop()! : root;
      if (closed.tag === 'li') task(closed);
    } else add(into.children, leaf(token));
  }
  return root.children;
}

// add joins texts, of which the parser makes many.
function add(to: Node[], node: Node) {
  const last = to.length - 1;
  if (typeof node === 'string' && typeof to[last] === 'string') to[last] += node;
  else if (node !== '') to.push(node);
}

function elementOf(token: Token): Element {
  if (token.hidden) return { tag: '', attrs: {}, children: [] }; // the paragraph of a tight list
  const attrs: Record<string, string> = {};
  for (const [name, value] of token.attrs ?? []) attrs[name] = String(value);
  return { tag: token.tag, attrs, children: [], ...(token.map && { line: token.map[0] }) };
}

function leaf(token: Token): Node {
  switch (token.type) {
    case 'code_inline':
      return { tag: 'code', attrs: {}, children: [token.content] };
    case 'fence':
    case 'code_block':
      return { tag: 'pre', attrs: {}, children: [token.content.replace(/\n$/, '')], info: token.info.trim().split(/\s+/)[0]?.toLowerCase() };
    case 'softbreak':
      return '\n'; // which is a line of its own in a message, by its style, and a space in a document
    case 'hardbreak':
      return { tag: 'br', attrs: {}, children: [] };
    case 'hr':
      return { tag: 'hr', attrs: {}, children: [] };
    case 'image':
      return { tag: 'a', attrs: { href: String(token.attrGet('src') ?? '') }, children: [token.content || String(token.attrGet('src') ?? '')] };
    default:
      return token.content;
  }
}

// task makes an item that begins with a box one of a task list.
function task(item: Element) {
  const first = item.children[0];
  const into = typeof first === 'object' && (first.tag === '' || first.tag === 'p') ? first.children : item.children;
  const box = typeof into[0] === 'string' ? /^\[([ xX])\](?:\s+|$)/.exec(into[0]) : null;
  if (!box) return;
  into[0] = (into[0] as string).slice(box[0].length);
  item.done = box[1] !== ' ';
}

// ticked is the source with the task of a line done, or not; unchanged where no task
// stands there.
export function ticked(source: string, line: number, done: boolean): string {
  const lines = source.split('\n');
  const now = lines[line]?.replace(/^([\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+)+)\[[ xX]\]/, `$1[${done ? 'x' : ' '}]`);
  if (now !== undefined) lines[line] = now;
  return lines.join('\n');
}
