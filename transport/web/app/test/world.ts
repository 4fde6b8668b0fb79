// A world for stores to live in: browsers with tabs, a server, and a clock that goes on
// when nothing else does.

import { effect } from '@preact/signals';
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import assert from 'node:assert/strict';
import { ApiError } from '../src/api';
import type { Env } from '../src/store/env';
import type { Shown } from '../src/store/messages';
import type { Item } from '../src/store/rows';
import { openStore, type Store } from '../src/store/sync';
import { Server, tenant, type Fault } from './server';

export const me = 'u:me';

Object.assign(globalThis, { IDBKeyRange });

export class World {
  time = Date.UTC(2026, 0, 2);
  readonly server = new Server(() => this.time);
  private timers: { at: number; f: () => void }[] = [];
  private keys = 0;

  timer(ms: number, f: () => void): () => void {
    const timer = { at: this.time + ms, f };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((t) => t !== timer));
  }

  newKey(): string {
    return `key-${++this.keys}`;
  }

  // pass lets time go by.
  async pass(ms: number) {
    const end = this.time + ms;
    for (;;) {
      await quiet();
      const next = this.timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.fire(next);
    }
    this.time = end;
  }

  // until lets time go by until something is so, which is to be within an hour.
  async until(what: string, holds: () => boolean | Promise<boolean>) {
    for (const end = this.time + 3600_000; this.time < end; ) {
      await quiet();
      if (await holds()) return;
      const next = this.timers.sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.fire(next);
    }
    await quiet();
    assert.ok(await holds(), `it never happened: ${what}`);
  }

  private fire(timer: { at: number; f: () => void }) {
    this.timers = this.timers.filter((t) => t !== timer);
    this.time = Math.max(this.time, timer.at);
    timer.f();
  }
}

// quiet waits until what is under way without a timer has come to rest.
export async function quiet() {
  for (let i = 0; i < 40; i++) await new Promise(setImmediate);
}

// Browser has a disk, and tabs that share it.
export class Browser {
  indexedDB?: IDBFactory = new IDBFactory();
  locks? = new Locks();
  readonly channels = new Set<Channel>();
  readonly tabs: Tab[] = [];
  online = true;
  // fault decides what happens to a request that a tab makes.
  fault: (method: string, url: string) => Fault = () => null;
  held: (url: string) => Promise<void> = () => Promise.resolve();

  constructor(
    readonly world: World,
    readonly user = me,
  ) {}

  // tab opens a store in a new tab, or with the session of one that is loaded anew.
  async tab(session = new Map<string, string>()): Promise<Tab> {
    const tab = new Tab(this, session);
    this.tabs.push(tab);
    tab.store = await openStore(tab.env, { tenant_id: tenant, user_id: this.user }, () => (tab.gone = true));
    return tab;
  }

  // hold keeps back the answers to what some tab asks for from now on, until it is let go.
  hold(what: (url: string) => boolean): () => void {
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    this.held = (url) => (what(url) ? held : Promise.resolve());
    return () => {
      this.held = () => Promise.resolve();
      go();
    };
  }

  // connect and cut are the network's coming and going.
  connect() {
    this.online = true;
    this.tabs.forEach((tab) => tab.wake());
  }

  cut() {
    this.online = false;
    this.tabs.forEach((tab) => tab.drop());
  }
}

export class Tab {
  store!: Store;
  gone = false;
  visible = true;
  deaf = false; // what other tabs tell is lost while this one is frozen
  private frozen = false;
  private thaws: (() => void)[] = [];
  private wakes = new Set<() => void>();
  private hides = new Set<() => void>();
  private calls = new Set<AbortController>();

  constructor(
    readonly browser: Browser,
    readonly session: Map<string, string>,
  ) {}

  // freeze stops all that the tab does, as iOS does, until thaw.
  freeze() {
    this.frozen = true;
  }

  thaw() {
    this.goOn();
    this.wake();
  }

  // goOn is thaw where nothing tells the tab that it slept.
  goOn() {
    this.frozen = false;
    for (const f of this.thaws.splice(0)) f();
  }

  // run does something of the tab's, now or when it is awake.
  run(f: () => void) {
    if (this.frozen) this.thaws.push(f);
    else f();
  }

  // hears takes what another tab tells.
  hears(f: () => void) {
    if (!this.frozen || !this.deaf) this.run(f);
  }

  wake() {
    this.run(() => this.wakes.forEach((f) => f()));
  }

  hide() {
    this.hides.forEach((f) => f());
  }

  // drop breaks the tab's connections.
  drop() {
    this.calls.forEach((call) => call.abort());
  }

  // crash ends the tab without a word: nothing of it happens any more.
  crash() {
    this.freeze();
    this.drop();
    this.browser.locks?.leave(this);
    for (const channel of this.browser.channels) if (channel.tab === this) channel.close();
    this.browser.tabs.splice(this.browser.tabs.indexOf(this), 1);
  }

  get env(): Env {
    const { browser } = this;
    const { world } = browser;
    return {
      get: (url, o) => this.call('GET', url, o?.signal, () => world.server.get(browser.user, url)) as never,
      post: (url, body, o) => this.call('POST', url, o?.signal, () => (url.endsWith('/read') ? world.server.read(browser.user, url.split('/')[3]!, (body as { read_seq: number }).read_seq) : world.server.post(browser.user, url, body as never))) as never,
      fetch: (_, init) => this.stream(init!),
      newKey: () => world.newKey(),
      now: () => world.time,
      random: () => 0.5,
      timer: (ms, f) => world.timer(ms, () => this.run(f)),
      soon: (f) => void setImmediate(() => this.run(f)),
      visible: () => this.visible,
      onWake: (f) => subscribe(this.wakes, f),
      onHide: (f) => subscribe(this.hides, f),
      indexedDB: browser.indexedDB as never,
      session: {
        getItem: (key) => this.session.get(key) ?? null,
        setItem: (key, value) => void this.session.set(key, value),
        removeItem: (key) => void this.session.delete(key),
      },
      locks: browser.locks && { request: browser.locks.of(this) as never },
      channel: () => new Channel(this) as never,
    };
  }

  private async call(method: string, url: string, stop: AbortSignal | undefined, answer: () => unknown): Promise<unknown> {
    const [call, signal] = this.begin(stop);
    try {
      await Promise.race([new Promise(setImmediate), ended(signal)]);
      const fault = this.browser.online ? this.browser.fault(method, url) : 'lost';
      if (fault === 'lost') throw new ApiError('offline', 'lost', 0);
      if (fault instanceof ApiError) throw fault;
      const said = JSON.stringify(answer());
      await Promise.race([this.browser.held(url), ended(signal)]);
      await Promise.race([new Promise(setImmediate), ended(signal)]);
      if (fault === 'unheard') throw new ApiError('offline', 'unheard', 0);
      await new Promise<void>((resolve) => this.run(resolve));
      return JSON.parse(said) as unknown;
    } catch (problem) {
      if (problem instanceof ApiError || stop?.aborted) throw problem;
      throw new ApiError('offline', 'cut off', 0);
    } finally {
      this.calls.delete(call);
    }
  }

  private async stream(init: RequestInit): Promise<Response> {
    const [, signal] = this.begin(init.signal ?? undefined);
    await new Promise(setImmediate);
    const fault = this.browser.online ? this.browser.fault('GET', '/api/events') : 'lost';
    if (fault instanceof ApiError) return new Response('', { status: fault.status, headers: { 'Retry-After': String(fault.retryAfter ?? '') } });
    if (fault !== null || signal.aborted) throw new TypeError('no network');
    const after = (init.headers as Record<string, string>)['Last-Event-ID'] ?? null;
    const response = this.browser.world.server.listen(this.browser.user, after, signal);
    const through = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, to) => new Promise((resolve) => this.run(() => resolve(to.enqueue(chunk)))),
    });
    void response.body!.pipeTo(through.writable, { signal }).catch(() => undefined);
    return new Response(through.readable);
  }

  // begin starts a request that ends with the tab's connections, or by the signal.
  private begin(stop?: AbortSignal): [AbortController, AbortSignal] {
    const call = new AbortController();
    this.calls.add(call);
    return [call, stop ? AbortSignal.any([call.signal, stop]) : call.signal];
  }
}

function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

function subscribe(to: Set<() => void>, f: () => void): () => void {
  to.add(f);
  return () => void to.delete(f);
}

// Channel is a BroadcastChannel: what a tab posts the others get, as copies, in order.
class Channel {
  onmessage: ((event: { data: unknown }) => void) | null = null;

  constructor(readonly tab: Tab) {
    tab.browser.channels.add(this);
  }

  postMessage(data: unknown) {
    for (const other of this.tab.browser.channels) {
      if (other === this) continue;
      const copy = structuredClone(data);
      setImmediate(() => other.tab.hears(() => other.onmessage?.({ data: copy })));
    }
  }

  close() {
    this.tab.browser.channels.delete(this);
    this.onmessage = null;
  }
}

interface Request {
  tab: Tab;
  grant: () => void;
  lose: (err: Error) => void;
}

// Locks is the part of the Web Locks API that the store uses, with one lock.
export class Locks {
  private held: Request | null = null;
  private waiting: Request[] = [];

  of(tab: Tab) {
    return (_: string, options: { steal?: boolean; signal?: AbortSignal }, work: () => Promise<void>): Promise<void> =>
      new Promise((resolve, reject) => {
        const request: Request = {
          tab,
          lose: (err) => tab.run(() => reject(err)),
          grant: () => {
            this.held = request;
            const end = () => this.held === request && this.next();
            setImmediate(() => tab.run(() => void work().then(resolve, reject).finally(end)));
          },
        };
        options.signal?.addEventListener('abort', () => {
          if (!this.waiting.includes(request)) return;
          this.waiting = this.waiting.filter((r) => r !== request);
          reject(new DOMException('aborted', 'AbortError'));
        });
        if (options.steal) {
          this.held?.lose(new DOMException('stolen', 'AbortError'));
          request.grant();
        } else {
          this.waiting.push(request);
          if (!this.held) this.next();
        }
      });
  }

  // leave is what the browser does when a tab is gone.
  leave(tab: Tab) {
    this.waiting = this.waiting.filter((r) => r.tab !== tab);
    if (this.held?.tab === tab) this.next();
  }

  private next() {
    this.held = null;
    this.waiting.shift()?.grant();
  }
}

// texts are what a window shows; what is on its way has "…" behind it.
export function texts(window: Pick<Shown, 'items'>): string[] {
  return window.items.value.map(textOf);
}

export function textOf(item: Item): string {
  return item.message ? item.message.body.text : `${item.outgoing.text}${item.outgoing.state === 'failed' ? '!' : '…'}`;
}

// watch notes every state of something that signals show.
export function watch<T>(read: () => T): { seen: T[]; stop: () => void } {
  const seen: T[] = [];
  return { seen, stop: effect(() => void seen.push(read())) };
}
