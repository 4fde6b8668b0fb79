// A page in a browser, for the modules that there is one of in a page: they take what
// they need from globals. Its cookie can become another's at any time, as when somebody
// signs in in another tab, and its server refuses what is meant for somebody else.

import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import assert from 'node:assert/strict';
import { Server, tenant } from './server';

interface Asked {
  method: string;
  url: string;
  as: string | null; // the person that the request names
}

export class Page {
  readonly server = new Server(Date.now);
  readonly asked: Asked[] = [];
  readonly kept = new Map<string, string>(); // the localStorage
  readonly visited: string[] = []; // by location.replace
  // cookie is whose it is, '' for nobody.
  cookie = '';
  revoked = false; // the cookie's session, which somebody has ended
  offline = false;
  unproven = false; // whose cookie it is
  passkeys = 0; // of theirs
  // hangs are the answers that the network holds up, while it does.
  hangs: (() => void)[] | null = null;
  private readonly events = new EventTarget();

  constructor() {
    const { events, kept } = this;
    Object.assign(globalThis, {
      IDBKeyRange,
      indexedDB: new IDBFactory(),
      window: events,
      document: Object.assign(new EventTarget(), { hidden: true }),
      addEventListener: events.addEventListener.bind(events),
      location: { replace: (url: string) => void this.visited.push(url) },
      localStorage: storage(kept),
      fetch: (url: string, init: RequestInit) => this.fetch(url, init),
    });
    Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
  }

  // signIn is what another tab does to this one's cookie. The session before it ends.
  signIn(user: string) {
    this.revoked = false;
    this.cookie = user && `${tenant}|${user}`;
    this.server.hangUp();
  }

  // revoke ends the session from elsewhere, and its streams.
  revoke() {
    this.revoked = true;
    this.server.hangUp();
  }

  // remember is what another tab keeps of who is signed in.
  remember(user: string) {
    this.kept.set('ubl.session', JSON.stringify(whoami(`${tenant}|${user}`)));
    this.events.dispatchEvent(Object.assign(new Event('storage'), { key: 'ubl.session' }));
  }

  resume() {
    this.hangs?.forEach((go) => go());
    this.hangs = null;
  }

  private async fetch(url: string, init: RequestInit): Promise<Response> {
    const { method = 'GET' } = init;
    const as = (init.headers as Record<string, string>)['X-UBL-As'] ?? null;
    this.asked.push({ method, url, as });
    if (this.offline) throw new TypeError('no network');
    const answer = this.answer(method, url, as, init);
    await new Promise<void>((resolve) => (this.hangs ? this.hangs.push(resolve) : setImmediate(resolve)));
    return answer;
  }

  private answer(method: string, url: string, as: string | null, init: RequestInit): Response {
    const { cookie, server } = this;
    if (url === '/auth/ways') return Response.json({ passkeys: true, oidc: [], signed_in: cookie !== '' });
    if (this.revoked && cookie !== '') return Response.json({ error: { code: 'unauthorized', message: 'no', details: { credential: 'revoked' } } }, { status: 401 });
    if (cookie === '' || (as !== null && as !== cookie)) return Response.json({ error: { code: 'unauthorized', message: 'no' } }, { status: 401 });
    const user = cookie.split('|')[1]!;
    if (url === '/api/whoami') return Response.json({ ...whoami(cookie, this.unproven), name: server.names.get(user) });
    if (url === '/api/passkeys') return Response.json({ passkeys: Array(this.passkeys).fill({}) });
    if (url === '/api/events') return server.listen(user, (init.headers as Record<string, string>)['Last-Event-ID'] ?? null, init.signal!);
    if (url === '/auth/signout' || url === '/api/tokens') return this.end();
    if (method === 'POST' && url.endsWith('/read')) return Response.json(server.read(user, url.split('/')[3]!, (JSON.parse(String(init.body)) as { read_seq: number }).read_seq));
    if (method === 'POST') return Response.json(server.post(user, url, JSON.parse(String(init.body)) as never));
    return Response.json(server.get(user, url));
  }

  private end(): Response {
    this.signIn('');
    return Response.json({});
  }
}

const whoami = (cookie: string, unproven = false) => ({
  identity: { user_id: cookie.split('|')[1], groups: [], ...(unproven && { unproven }) }, tenant_id: cookie.split('|')[0], role: 'member', expires_at: new Date(0).toISOString(),
});

// storage is a localStorage, which Object.keys lists the keys of.
const storage = (kept: Map<string, string>) =>
  new Proxy(
    {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    },
    { ownKeys: () => [...kept.keys()], getOwnPropertyDescriptor: (_, key) => ({ configurable: true, enumerable: true, value: kept.get(String(key)) }) },
  );

// until waits for something that is to be so soon, on a machine that may be busy.
export async function until(what: string, holds: () => boolean) {
  for (const end = Date.now() + 60_000; !holds(); ) {
    assert.ok(Date.now() < end, `it never happened: ${what}`);
    await new Promise(setImmediate);
  }
}
