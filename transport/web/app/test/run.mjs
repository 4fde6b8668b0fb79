// Runs the tests of this folder under Node: `npm test`, or `npm test chain outbox` for
// some of them. Vite bundles each with what it tests, as it does for the browser.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { words } from '../words.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const names = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -'.test.ts'.length))
  .filter((name) => wanted.length === 0 || wanted.includes(name));
const out = mkdtempSync(join(tmpdir(), 'ubl-app-test-'));
try {
  await build({
    configFile: false,
    logLevel: 'warn',
    root: join(here, '..'),
    plugins: [words({ whole: true })],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: out,
      emptyOutDir: true,
      sourcemap: 'inline',
      rollupOptions: {
        input: Object.fromEntries(names.map((name) => [name, join(here, `${name}.test.ts`)])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
  const files = names.map((name) => join(out, `${name}.mjs`));
  // A page's stream watches for silence as long as the page lives: 40 seconds nobody need wait for.
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-force-exit', '--test-concurrency=4', ...files], { stdio: 'inherit', env: { ...process.env, LC_ALL: 'en_US.UTF-8' } });
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
