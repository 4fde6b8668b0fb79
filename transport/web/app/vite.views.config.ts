import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { words } from './words.mjs';

// The views of MCP Apps (src/views). Each is built by itself, VIEW names it, into one page that asks
// for nothing: its script and style stand in it.
const name = process.env.VIEW ?? '';
const titles: Record<string, string> = { room: 'A room', receipt: 'A receipt' };

// page puts the built script into a page of its own.
function page(): Plugin {
  return {
    name: 'page',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const chunks = Object.values(bundle);
        const [script] = chunks;
        if (chunks.length !== 1 || script?.type !== 'chunk') throw new Error(`the view ${name} is not one script`);
        const code = script.code.trim().replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');
        const style = readFileSync('src/views/view.css', 'utf8').replace(/\/\*.*?\*\//gs, '').replace(/\s+/g, ' ').trim();
        const source = `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n<title>${titles[name]}</title>\n<style>${style}</style>\n<body>\n<p>Waiting for the client…</p>\n<script>${code}</script>\n</body>\n</html>\n`;
        delete bundle[script.fileName];
        this.emitFile({ type: 'asset', fileName: `${name}.html`, source });
      },
    },
  };
}

export default defineConfig({
  publicDir: false,
  plugins: [words(), page()],
  build: {
    target: ['safari16.4', 'chrome111', 'firefox114'],
    emptyOutDir: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: { [name]: `src/views/${name}.ts` }, output: { format: 'iife' } },
  },
});
