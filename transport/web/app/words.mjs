// Build-time side of the message catalogues (src/words): each is a JSON file of ICU
// MessageFormat texts, parsed here, so that the app has no parser in it. Used by
// vite.config.ts, by the tests' bundler, and by the tests themselves.
import { readFileSync } from 'node:fs';
import { parse } from '@messageformat/parser';
import { parseAst } from 'rolldown/parseAst';

const folder = new URL('./src/words/', import.meta.url);

// compile is a message as src/words/format.ts reads it: a text, or a list of texts and
// placeholders. A placeholder is [name], [name, 'n'] for a number, or [name, 'p' or 's', cases].
export function compile(message) {
  const parts = parse(message, { strict: true }).map(part);
  return parts.length === 1 && typeof parts[0] === 'string' ? parts[0] : parts;
}

function part(token) {
  switch (token.type) {
    case 'content':
      return token.value;
    case 'argument':
      return [token.arg];
    case 'octothorpe':
      return 0;
    case 'function':
      if (token.key === 'number' && !token.param) return [token.arg, 'n'];
      break;
    case 'plural':
    case 'select':
      if (token.pluralOffset) break;
      return [token.arg, token.type === 'plural' ? 'p' : 's', Object.fromEntries(token.cases.map(({ key, tokens }) => [key, tokens.map(part)]))];
  }
  throw new Error(`${token.type} ${token.arg ?? ''} is a form that messages here don't have`);
}

// placeholders are the names that a message takes, sorted.
export function placeholders(message) {
  const names = new Set();
  const visit = (tokens) => {
    for (const token of tokens) {
      if (token.arg) names.add(token.arg);
      for (const { tokens: inner } of token.cases ?? []) visit(inner);
    }
  };
  visit(parse(message, { strict: true }));
  return [...names].sort();
}

export const catalogue = (language) => JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8'));

// first are the parts of the English catalogue that the first load needs; the rest comes with
// the first screen that is fetched.
export const first = ['app', 'do', 'section', 'person', 'rooms', 'wayback', 'notin', 'join', 'palette', 'composer', 'talk', 'hint'];

const isFirst = (key) => first.includes(key.split('.')[0]);

// inViews are the texts of the app that the views of MCP Apps show too.
const inViews = /^proof\.\w+\.(held|broke)$/;

// words is the plugin by which 'words:de' is the compiled catalogue of German. 'words:en' is
// what the first load needs of English, and 'words:more' the rest; whole has all in the first.
// 'words:views' is what the views need.
export function words({ whole = false } = {}) {
  return {
    name: 'words',
    resolveId: (id) => (id.startsWith('words:') ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith('\0words:')) return undefined;
      const language = id.slice('\0words:'.length);
      const name = language === 'more' || language === 'views' ? 'en' : language;
      this.addWatchFile(new URL(`${name}.json`, folder).pathname);
      const wanted = (key) => language === 'views' ? inViews.test(key) : name !== 'en' || whole || isFirst(key) === (language === 'en');
      const compiled = Object.entries(catalogue(name)).filter(([key]) => wanted(key)).map(([key, message]) => [key, compile(message)]);
      return { code: `export default ${JSON.stringify(Object.fromEntries(compiled))}`, map: null, moduleType: 'js' };
    },
  };
}

// shown are the properties and attributes whose values people read.
const shown = new Set(['label', 'title', 'hint', 'error', 'placeholder', 'aria-label', 'alt', 'text', 'action', 'sub', 'what']);
const calls = new Set(['toast', 'announce', 'Error', 'setError', 'setProblem', 'count']);

// literals are the texts in a source file that people would read: words between tags, in
// attributes and properties that are shown, and in calls that say something.
export function literals(source, name) {
  const found = [];
  // One small word is a name in the code, such as a key of a catalogue, unless it stands between tags.
  const say = (text, between = false) => {
    if (/\p{L}{2,}/u.test(text) && text.trim() !== 'UBL' && (between || /\s|^\p{Lu}/u.test(text.trim()))) found.push(text.trim());
  };
  // texts takes the strings out of what may be chosen among: a ? 'b' : `c ${d}`.
  const texts = (node) => {
    if (!node) return;
    if (node.type === 'Literal' && typeof node.value === 'string') say(node.value);
    else if (node.type === 'TemplateLiteral') say(node.quasis.map((q) => q.value.cooked).join('…'));
    else if (node.type === 'ConditionalExpression') [node.consequent, node.alternate].forEach(texts);
    else if (node.type === 'LogicalExpression') [node.left, node.right].forEach(texts);
    else if (node.type === 'BinaryExpression' && node.operator === '+') [node.left, node.right].forEach(texts);
    else if (node.type === 'JSXExpressionContainer') texts(node.expression);
  };
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!node || typeof node.type !== 'string') return;
    if (node.type === 'JSXText') say(node.value, true);
    else if (node.type === 'JSXElement' || node.type === 'JSXFragment') node.children.filter((c) => c.type === 'JSXExpressionContainer').forEach(texts);
    else if (node.type === 'JSXAttribute' && shown.has(node.name.name)) texts(node.value);
    else if (node.type === 'Property' && shown.has(node.key.name)) texts(node.value);
    else if ((node.type === 'CallExpression' || node.type === 'NewExpression') && calls.has(node.callee.name)) node.arguments.forEach(texts);
    Object.values(node).forEach((value) => typeof value === 'object' && visit(value));
  };
  visit(parseAst(source, { lang: name.endsWith('x') ? 'tsx' : 'ts' }));
  return found;
}
