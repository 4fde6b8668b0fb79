// env.ts is what the store takes from the browser, passed in so that tests own time,
// chance, the network and the other tabs.

import * as api from '../api';

export interface Env {
  // get and post are those of api.ts: they fail with an ApiError. Like fetch, they ask
  // for the one whose store it is, whoever else may have signed in since.
  get: typeof api.get;
  post: typeof api.post;
  fetch(url: string, o: RequestInit & { headers: Record<string, string> }): Promise<Response>;
  newKey(): string;
  now(): number; // in ms
  random(): number; // from 0 up to 1
  // timer calls f once, after ms; the answer takes that back.
  timer(ms: number, f: () => void): () => void;
  // soon calls f once, before the next frame is drawn; in a hidden tab, which draws
  // none, at once. What happens until then is handled together.
  soon(f: () => void): void;
  visible(): boolean;
  // onWake calls f whenever the network or the person may be back; onHide when this
  // may be the page's last moment.
  onWake(f: () => void): () => void;
  onHide(f: () => void): () => void;
  // The rest is missing in some browsers and modes.
  indexedDB?: IDBFactory;
  // session ends with the tab, and is written at once.
  session?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  locks?: Pick<LockManager, 'request'>;
  channel?(name: string): Pick<BroadcastChannel, 'postMessage' | 'close' | 'onmessage'>;
}

// browser is this browser, asking for one person, as personID says it.
export function browser(as: string): Env {
  return {
    get: (url, o) => api.get(url, { ...o, as }),
    post: (url, body, o) => api.post(url, body, { ...o, as }),
    fetch: (url, o) => fetch(url, { ...o, headers: { ...o.headers, ...api.headersOf(as) } }),
    newKey: api.newKey,
    now: Date.now,
    random: Math.random,
    timer(ms, f) {
      const id = setTimeout(f, ms);
      return () => clearTimeout(id);
    },
    soon,
    visible: () => !document.hidden,
    onWake(f) {
      const shown = () => document.hidden || f();
      return listen([[window, 'online', f], [window, 'pageshow', f], [document, 'visibilitychange', shown]]);
    },
    onHide(f) {
      const hidden = () => document.hidden && f();
      return listen([[window, 'pagehide', f], [document, 'visibilitychange', hidden]]);
    },
    indexedDB: lent(() => globalThis.indexedDB),
    session: lent(() => globalThis.sessionStorage),
    locks: navigator.locks as LockManager | undefined,
    channel: typeof BroadcastChannel === 'undefined' ? undefined : (name) => new BroadcastChannel(name),
  };
}

// lent is undefined where even asking for it is refused.
function lent<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

function listen(to: [EventTarget, string, () => void][]): () => void {
  for (const [target, name, f] of to) target.addEventListener(name, f);
  return () => to.forEach(([target, name, f]) => target.removeEventListener(name, f));
}

// soon has a timer beside the frame: a tab that is hidden in between gets no frame.
// Hidden tabs have a second a timer, so there it is a message to itself.
function soon(f: () => void) {
  if (document.hidden) {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      f();
    };
    port2.postMessage(null);
    return;
  }
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    f();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, 100);
}
