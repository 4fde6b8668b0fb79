// The service worker: keeps the app's own files, so that it starts without a
// network. It never answers for anything outside /ui/: what people wrote is kept
// by the page, under who they are.

import { arrived, opened } from './notify/worker';

// Both are put in by the build (vite.config.ts).
declare const __SHELL__: string[];
declare const __VERSION__: string;

declare const self: ServiceWorkerGlobalScope & typeof globalThis;

const prefix = 'ubl-shell-';
const name = prefix + __VERSION__;
const shell = new Set(__SHELL__);
const start = '/ui/';

self.addEventListener('install', (e) => e.waitUntil(fill()));
self.addEventListener('activate', (e) => e.waitUntil(tidy()));
self.addEventListener('message', (e) => {
  if (e.data === 'skip-waiting') void self.skipWaiting();
});

self.addEventListener('fetch', (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== 'GET' || url.origin !== self.location.origin || !url.pathname.startsWith(start)) return;
  if (e.request.mode === 'navigate') e.respondWith(kept(start, e.request));
  else if (shell.has(url.pathname)) e.respondWith(kept(url.pathname, e.request));
});

self.addEventListener('push', (e) => e.waitUntil(arrived(self, e.data)));
self.addEventListener('notificationclick', (e) => e.waitUntil(opened(self, e.notification)));

// fill takes all files or none. Hashed ones come from the browser's cache where
// it has them; the others are asked for anew.
async function fill() {
  const cache = await caches.open(name);
  await cache.addAll([...shell].map((path) => new Request(path, { cache: path.includes('/assets/') ? 'default' : 'no-cache' })));
}

async function tidy() {
  for (const other of await caches.keys()) {
    if (other.startsWith(prefix) && other !== name) await caches.delete(other);
  }
}

async function kept(path: string, request: Request): Promise<Response> {
  const cache = await caches.open(name);
  return (await cache.match(path)) ?? fetch(request);
}

export {};
