import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { words } from './words.mjs';

// shell tells the service worker which files make the app, and a version that
// changes with any of them. The worker itself has no imports, so it is built as
// one file with a name that stays.
function shell(): Plugin {
  return {
    name: 'shell',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const worker = bundle['sw.js'];
        if (worker?.type !== 'chunk') throw new Error('there is no sw.js in the build');
        if (worker.imports.length > 0) throw new Error(`sw.js is not one file: it imports ${worker.imports.join(', ')}`);
        const hash = createHash('sha256').update(worker.code);
        const files = Object.keys(bundle).filter((name) => name !== 'sw.js' && name !== 'page.css').sort(); // which are no part of the shell
        for (const name of files) {
          const file = bundle[name]!;
          hash.update(name).update(file.type === 'chunk' ? file.code : file.source);
        }
        const still = readdirSync('public').sort();
        for (const name of still) hash.update(name).update(readFileSync(`public/${name}`));
        const kept = [...files.filter((name) => name !== 'index.html'), ...still.filter((name) => name !== 'apple-touch-icon.png')];
        const paths = ['/ui/', ...kept.map((name) => `/ui/${name}`)];
        worker.code = worker.code
          .replace('__SHELL__', JSON.stringify(paths))
          .replace('__VERSION__', JSON.stringify(hash.digest('hex').slice(0, 16)));
      },
    },
  };
}

export default defineConfig({
  base: '/ui/',
  plugins: [words(), shell()],
  build: {
    target: ['safari16.4', 'chrome111', 'firefox114'],
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0, // data: URLs are no part of the Content-Security-Policy
    // A list of what each screen needs would be a thirtieth of the first load; the service worker soon has it all.
    modulePreload: { polyfill: false, resolveDependencies: (_, all) => all.filter((file) => file.endsWith('.css')) },
    reportCompressedSize: false,
    rollupOptions: {
      input: { index: 'index.html', sw: 'src/sw.ts', page: 'src/page.css' },
      output: {
        entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        chunkFileNames: 'assets/[name]-[hash].js',
        // What every first load needs is one file: each more costs the head of an answer, and compresses less.
        codeSplitting: { groups: [{ name: 'index', tags: ['$initial'], test: (id) => !id.endsWith('.css') && !/\/src\/(sw|notify\/worker)\.ts$/.test(id) }] },
        assetFileNames: ({ names }) => (names.includes('page.css') ? 'page.css' : 'assets/[name]-[hash][extname]'),
      },
    },
  },
});
