// waiting.ts keeps, for this tab, the page of the server that waits until somebody has signed in:
// the one on which people let agents in. Signing in may lead through a provider's pages, or
// happen in another tab.

const key = 'ubl.waiting';

// patience is how long it waits, in ms: later one signs in for another reason.
const patience = 30 * 60 * 1000;

// waitingIn is the page that an address names, null for none. Nothing else of this server is
// gone on to, and nothing of another.
export function waitingIn(search: string, origin: string): string | null {
  const next = new URLSearchParams(search).get('next');
  if (!next?.startsWith('/oauth/authorize?')) return null;
  const url = URL.parse(next, origin);
  return url?.origin === origin && url.pathname === '/oauth/authorize' ? url.pathname + url.search : null;
}

// keep remembers what the address names.
export function keep(): void {
  const next = waitingIn(location.search, location.origin);
  if (next) sessionStorage.setItem(key, JSON.stringify({ next, at: Date.now() }));
}

// resume goes on to what waits, once, and tells whether something did.
export function resume(): boolean {
  const kept = sessionStorage.getItem(key);
  if (!kept) return false;
  sessionStorage.removeItem(key);
  const { next, at } = JSON.parse(kept) as { next: string; at: number };
  if (Date.now() - at > patience) return false;
  location.replace(next);
  return true;
}
