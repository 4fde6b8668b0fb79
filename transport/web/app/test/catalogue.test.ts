// The catalogues: every language has every text, with the same places in it, and no file
// has texts of its own, but for those that are still to be moved.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { t } from '../src/words';
import { format, type Compiled } from '../src/words/format';
import { languages, localise, preferred } from '../src/words/locale';
import list from './still.json';

interface Build {
  compile(message: string): Compiled;
  placeholders(message: string): string[];
  catalogue(language: string): Record<string, string>;
  literals(source: string, name: string): string[];
  first: string[];
}

const { compile, placeholders, catalogue, literals, first } = (await import(/* @vite-ignore */ pathToFileURL(resolve('words.mjs')).href)) as Build;
const still: string[] = list; // files that have texts of their own yet
const english = catalogue('en');
const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'));
const sources = new Map(files.map((name) => [name, readFileSync(join('src', name), 'utf8')]));

test('every language has every text, with the same values in it', () => {
  for (const language of Object.keys(languages)) {
    const texts = catalogue(language);
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort(), language);
    for (const [key, text] of Object.entries(texts)) {
      assert.notEqual(text.trim(), '', `${language}: ${key}`);
      assert.deepEqual(placeholders(text), placeholders(english[key]!), `${language}: ${key}`);
    }
  }
});

test('no text is there twice', () => {
  for (const language of Object.keys(languages)) {
    const keys = readFileSync(`src/words/${language}.json`, 'utf8').match(/^ *"[^"]+":/gm)!;
    assert.deepEqual(keys.filter((key, i) => keys.indexOf(key) !== i), [], language);
  }
});

test('every text is used', () => {
  const all = [...sources.values()].join('\n');
  const made = [...all.matchAll(/[`']([a-z.]+\.)\$\{/g)].map((m) => m[1]!); // t(`sessions.${method}`)
  const unused = Object.keys(english).filter((key) => !all.includes(`'${key}'`) && !all.includes(`"${key}"`) && !made.some((begin) => key.startsWith(begin)));
  assert.deepEqual(unused, []);
});

test('texts are in the catalogues, and not in the code; the list of files still to do only shrinks', () => {
  const found = [...sources].filter(([name, source]) => !name.startsWith('views/') && literals(source, name).length > 0).map(([name]) => name).sort();
  const fresh = found.filter((name) => !still.includes(name));
  assert.deepEqual(fresh.map((name) => [name, literals(sources.get(name)!, name)]), []);
  assert.deepEqual(still.filter((name) => !found.includes(name)), [], 'these are done: take them off test/still.json');
});

test('a text in code is found, wherever people would read it', () => {
  const rows: [source: string, texts: string[]][] = [
    ['<p>Hello there</p>', ['Hello there']],
    ['<p>{more ? "Some more" : `${n} others`}</p>', ['Some more', '… others']],
    ['<Field label="Name" value="x" dir="auto" />', ['Name']],
    ['const row = { label: "Copy", icon: "copy" }', ['Copy']],
    ["toast('It is done')", ['It is done']],
    ["throw new Error('no passkey was made')", ['no passkey was made']],
    ['<p class="soft">{t("a.b")} · {n}</p>', []],
    ['go("/ui/rooms")', []],
  ];
  for (const [source, texts] of rows) assert.deepEqual(literals(source, 'x.tsx'), texts, source);
});

test('texts have numbers, choices and elements in their places', () => {
  const rows: [message: string, values: Record<string, unknown>, said: string][] = [
    ['Hello', {}, 'Hello'],
    ['Hello {name}', { name: 'Ana' }, 'Hello Ana'],
    ['{n, plural, =0 {none} one {# room} other {# rooms}}', { n: 0 }, 'none'],
    ['{n, plural, =0 {none} one {# room} other {# rooms}}', { n: 1 }, '1 room'],
    ['{n, plural, =0 {none} one {# room} other {# rooms}}', { n: 1204 }, '1,204 rooms'],
    ['{who, select, you {yours} other {{who}’s}}', { who: 'Ana' }, 'Ana’s'],
    ['{who, select, you {yours} other {{who}’s}}', { who: 'you' }, 'yours'],
    ["it''s '{'braces'}'", {}, 'it’s {braces}'.replace('’', "'")],
  ];
  localise('en', ['en-US']);
  for (const [message, values, said] of rows) assert.equal(format(compile(message), values).join(''), said);
  const element = { an: 'element' };
  assert.deepEqual(format(compile('by {who} today'), { who: element }), ['by ', element, ' today']);
  localise('ar', []);
  assert.equal(format(compile(catalogue('ar')['rooms.unread']!), { n: 2 }).join(''), 'رسالتان غير مقروءتين');
  localise('en', ['en-US']);
});

test('messages have no form that the app couldn’t read', () => {
  for (const wrong of ['{n, date}', '{n, plural, offset:1 one {#} other {#}}', '{n, selectordinal, other {#}}', '{open']) assert.throws(() => compile(wrong), wrong);
});

test('the language is the browser’s first that there are texts in', () => {
  assert.equal(preferred(['fr-FR', 'de-AT', 'en']), 'de');
  assert.equal(preferred(['ar-EG']), 'ar');
  assert.equal(preferred(['fr', 'pt-BR']), 'en');
  assert.equal(preferred([]), 'en');
});

test('a text is there at once', () => {
  assert.equal(t('rooms.unread', { n: 1 }), '1 unread message');
});

test('the first load has the texts that it shows', () => {
  const eager = new Set<string>();
  const visit = (file: string) => {
    if (eager.has(file)) return;
    eager.add(file);
    for (const [, path] of sources.get(file)!.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']*)';/gm)) {
      const to = join(dirname(file), path!);
      const found = [to, `${to}.ts`, `${to}.tsx`, `${to}/index.ts`].find((name) => sources.has(name));
      if (found) visit(found);
    }
  };
  visit('main.tsx');
  assert.ok(eager.has('ui/Layout.tsx') && !eager.has('screens/SignIn.tsx') && eager.size > 50);
  // The palette and "?" show the table of commands, once they are fetched; the menu is of More.
  const late = ['commands.ts', 'menu.ts'];
  const keys = Object.keys(english).filter((key) => !first.includes(key.split('.')[0]!));
  for (const file of eager) if (!late.includes(file)) assert.deepEqual(keys.filter((key) => sources.get(file)!.includes(`'${key}'`)), [], file);
});
