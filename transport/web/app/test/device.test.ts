// Whether there is a network: a browser on a machine with nothing but loopback knows none,
// and may reach the server nonetheless. And what is said where nobody answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Page, until } from './page';
import { tenant } from './server';

const page = new Page();
Object.assign(globalThis, { matchMedia: () => ({ matches: false }) });
Object.assign(document, { documentElement: { dataset: {} } });
const network = { onLine: false };
Object.defineProperty(globalThis, 'navigator', { value: network });
Object.assign(globalThis, { visualViewport: null });
const { online, settle } = await import('../src/device');
const session = await import('../src/session');
const { get } = await import('../src/api');
const { Calls } = await import('../src/screens/tools/calls');

const working = globalThis.fetch;
const broken = () => Promise.reject(new TypeError('Failed to fetch'));

test('the server’s answers count for more than what the browser thinks', async () => {
  page.cookie = `${tenant}|u:ana`;
  settle();
  assert.equal(online.value, false);
  session.start();
  await until('the server has answered', () => online.value);
  window.dispatchEvent(new Event('offline'));
  await until('it has answered again', () => online.value);

  globalThis.fetch = broken;
  window.dispatchEvent(new Event('offline'));
  await assert.rejects(get('/api/whoami'));
  assert.equal(online.value, false);
  network.onLine = true;
  await assert.rejects(get('/api/whoami'));
  assert.equal(online.value, true); // there is a network: the server is down
  globalThis.fetch = working;
});

test('a stream that can’t begin says so in our words', async () => {
  globalThis.fetch = broken;
  const calls = new Calls();
  calls.start();
  await until('it has failed', () => calls.problem.value !== null);
  assert.equal((calls.problem.value as Error).message, 'The server can’t be reached');
  calls.stop();
  globalThis.fetch = working;
});
