// Imports go one way: no file of the app imports, by others or not, one that imports it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const src = 'src';
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join(src, name));

// importsOf are the files of the app that one imports, at once or later.
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const found = [...text.matchAll(/(?:from |import\(|import )'(\.[^']*)'/g)].map((m) => join(dirname(file), m[1]!));
  return found.flatMap((path) => [`${path}.ts`, `${path}.tsx`, join(path, 'index.ts')].filter(existsSync).slice(0, 1));
}

test('imports go one way', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, way: string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
    if (done.has(file) || way.includes(file)) return;
    for (const next of importsOf(file)) visit(next, [...way, file]);
    done.add(file);
  };
  assert.ok(files.length > 100 && importsOf(join(src, 'routes.tsx')).length > 20);
  for (const file of files) visit(file, []);
  assert.deepEqual(circles, []);
});
