// Markdown as strangers write it: what it means, and what it must not become.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlight } from '../src/ui/markdown/highlight';
import { isSafe, parse, ticked, type Node } from '../src/ui/markdown/parse';
import { isPlain } from '../src/ui/markdown/plain';

// outline writes a tree down: tag(children), and what counts of attributes.
const outline = (nodes: readonly Node[]): string =>
  nodes.map((node) => {
    if (typeof node === 'string') return JSON.stringify(node);
    const more = [node.attrs.href && `→${node.attrs.href}`, node.info && `:${node.info}`, node.done !== undefined && (node.done ? '[x]' : '[ ]')].filter(Boolean).join('');
    return node.tag === '' ? outline(node.children) : `${node.tag}${more}(${outline(node.children)})`;
  }).join(' ');

test('a message is CommonMark, with tables, tasks and bare links', () => {
  const rows: [source: string, means: string][] = [
    ['**bold** and *italic*, ~~gone~~', 'p(strong("bold") " and " em("italic") ", " s("gone"))'],
    ['one\ntwo', 'p("one\\ntwo")'],
    ['- a\n- b', 'ul(li("a") li("b"))'],
    ['3. c', 'ol(li("c"))'],
    ['- [ ] open\n- [x] done', 'ul(li[ ]("open") li[x]("done"))'],
    ['> said\n>> before', 'blockquote(p("said") blockquote(p("before")))'],
    ['`a<b>`', 'p(code("a<b>"))'],
    ['```go\nx := 1\n```', 'pre:go("x := 1")'],
    ['|a|b|\n|-|-|\n|1|2|', 'table(thead(tr(th("a") th("b"))) tbody(tr(td("1") td("2"))))'],
    ['see https://a.example/b_c.', 'p("see " a→https://a.example/b_c("https://a.example/b_c") ".")'],
    ['**https://a.example/_b_c**, (http://c.example)', 'p(strong(a→https://a.example/_b_c("https://a.example/_b_c")) ", (" a→http://c.example("http://c.example") ")")'],
    ['xhttps://a.example `http://b.example`', 'p("xhttps://a.example " code("http://b.example"))'],
    ['[home](https://a.example)', 'p(a→https://a.example("home"))'],
    ['![seen](https://a.example/x.png)', 'p(a→https://a.example/x.png("seen"))'],
    ['read.me', 'p("read.me")'],
    ['# Title', 'h1("Title")'],
  ];
  for (const [source, means] of rows) assert.equal(outline(parse(source)), means, source);
});

test('nothing that is written becomes markup, a script or another kind of link', () => {
  const rows = [
    '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<b>no</b>', '<!-- no -->',
    '[x](javascript:alert(1))', '[x](JaVaScRiPt:alert(1))', '[x](java&#115;cript:alert(1))', '[x](data:text/html,hi)',
    '[x](vbscript:no)', '![x](data:image/svg+xml,hi)', '<javascript:alert(1)>', '[x](/ui/rooms)', '[x](//evil.example)',
    '[x](file:///etc/passwd)', '[x]: javascript:alert(1)\n\n[x]', '[a](\u0001javascript:alert(1))',
  ];
  const known = new Set(['', 'p', 'a', 'code', 'br', 'strong', 'em', 's']);
  for (const source of rows) {
    const visit = (node: Node) => {
      if (typeof node === 'string') return;
      assert.ok(known.has(node.tag), `${source}: ${node.tag}`);
      if (node.tag === 'a') assert.ok(isSafe(node.attrs.href ?? ''), `${source}: ${node.attrs.href}`);
      node.children.forEach(visit);
    };
    parse(source).forEach(visit);
  }
});

test('hostile texts take no longer than others, and nest no deeper', () => {
  const n = 100_000;
  const rows = ['['.repeat(n), '[]('.repeat(n / 3), '*a_'.repeat(n / 3), '>'.repeat(n), '`'.repeat(n), '- '.repeat(n / 2), '|a'.repeat(n / 2), '![['.repeat(n / 3), '**a '.repeat(n / 4), '<'.repeat(n), '\u202e'.repeat(n), 'https://'.repeat(n / 8)];
  const depth = (nodes: readonly Node[]): number => Math.max(0, ...nodes.map((node) => (typeof node === 'string' ? 0 : 1 + depth(node.children))));
  for (const source of rows) {
    const before = process.cpuUsage(); // what others on the machine do doesn't count
    const nodes = parse(source);
    const took = process.cpuUsage(before).user / 1000;
    assert.ok(took < 3000, `${source.slice(0, 8)}…: ${took.toFixed(0)} ms`);
    assert.ok(depth(nodes) < 100, `${source.slice(0, 8)}…: ${depth(nodes)} deep`);
  }
});

test('what nests too deep is shown as it was written, and nothing of it is lost', () => {
  for (const n of [5, 18, 19, 20, 21, 50]) {
    for (const source of [`${'> '.repeat(n)}deep`, `${'- '.repeat(n)}deep`]) assert.ok(outline(parse(source)).includes('deep'), source);
  }
});

test('a text without markup is told from others', () => {
  for (const plain of ['Hello', 'one\ntwo\n\nthree', 'at 10:30, OK?', 'https://a.example/b_c#d~e', 'a - b', '3.5 km', 'مرحبا', '@Ana, look']) assert.ok(isPlain(plain), plain);
  for (const formatted of ['*a*', 'a_b', '`x`', '# a', '- a', '1. a', '> a', '[a](https://b.c)', 'a\n---', 'a\n===', '    code', 'a|b', '&amp;', 'a\\\nb', '<a@b.c>']) assert.ok(!isPlain(formatted), formatted);
});

test('a tick changes its line and nothing else', () => {
  const source = '# List\n\n- [ ] one\n- [x] two\n  1. [ ] three\n\n> - [ ] four\n\n[ ] none';
  assert.equal(ticked(source, 2, true), source.replace('[ ] one', '[x] one'));
  assert.equal(ticked(source, 3, false), source.replace('[x] two', '[ ] two'));
  assert.equal(ticked(source, 4, true), source.replace('[ ] three', '[x] three'));
  assert.equal(ticked(source, 6, true), source.replace('[ ] four', '[x] four'));
  for (const line of [0, 1, 8, 99, -1]) assert.equal(ticked(source, line, true), source);
  const lines: number[] = [];
  const visit = (node: Node) => {
    if (typeof node === 'string') return;
    if (node.done !== undefined) lines.push(node.line!);
    node.children.forEach(visit);
  };
  parse(source).forEach(visit);
  assert.deepEqual(lines, [2, 3, 4, 6]);
});

test('code has colours where its language is known', () => {
  const kinds = highlight('func main() { return "x" } // y', 'go')!.flatMap((part) => (typeof part === 'string' ? [] : [part.kind]));
  assert.ok(kinds.some((kind) => kind.includes('hljs-string')) && kinds.some((kind) => kind.includes('hljs-comment')), kinds.join());
  assert.ok(highlight('let a = 1', 'js'));
  assert.equal(highlight('x', 'brainfuck'), null);
});
