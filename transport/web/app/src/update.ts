// The service worker's side of the page: a new version waits until the person
// agrees to it, or until all tabs are closed.

import { toast } from './ui/Toast';
import { t } from './words';

export async function register(): Promise<void> {
  if (!('serviceWorker' in navigator) || import.meta.env.MODE === 'development') return;
  const first = !navigator.serviceWorker.controller;
  const worker = await navigator.serviceWorker.register('/ui/sw.js').catch(() => null);
  if (!worker) return;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (!first) location.reload();
  });
  if (worker.waiting) offer(worker.waiting);
  worker.addEventListener('updatefound', () => watch(worker.installing));
  // An app on a home screen may stay open for weeks.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void worker.update().catch(() => undefined);
  });
}

function watch(installing: ServiceWorker | null) {
  installing?.addEventListener('statechange', () => {
    if (installing.state === 'installed' && navigator.serviceWorker.controller) offer(installing);
  });
}

function offer(waiting: ServiceWorker) {
  toast(t('app.update'), { sticky: true, action: { label: t('app.update.action'), run: () => waiting.postMessage('skip-waiting') } });
}
