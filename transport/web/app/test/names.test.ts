// What people and agents are called.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initials, nameOf } from '../src/text';
import { Page, until } from './page';
import { tenant } from './server';
import { Browser, me, World } from './world';

const general = 'r:general';

const agent = 'u:0123456789abcdef0123456789abcdef';

test('by their name, else their address, else their id in short', () => {
  const ana = { user_id: 'u:ana', email: 'ana.b@acme.com' };
  assert.equal(nameOf({ ...ana, name: 'Ana Müller' }), 'Ana Müller');
  assert.equal(nameOf(ana), 'ana.b');
  assert.equal(nameOf({ user_id: agent, name: 'Scout' }), 'Scout');
  assert.equal(nameOf({ user_id: agent, email: null }), '01234567…cdef');
  assert.equal(nameOf({ user_id: 'u:ana', name: '' }), 'ana');
  assert.equal(nameOf({ ...ana, alike: true }), 'ana.b (' + nameOf({ user_id: ana.user_id }) + ')'); // looks like another's
  assert.equal(nameOf({ user_id: 'u:ana', alike: true }), 'ana');
});

test('letters of a name, and none of the id that tells namesakes apart', () => {
  const rows = { Eve: 'E', 'Eve Adams': 'EA', 'Eve (3f2a…9c1d)': 'E', 'eve.adams': 'EA', 'Ева Браун': 'ЕБ', '42': '4', '🦊': '🦊', '': '?' };
  for (const [name, letters] of Object.entries(rows)) assert.equal(initials(name), letters, name);
});

test('somebody new soon after somebody else, and nobody asks on after whom the list lacks', async () => {
  const world = new World();
  world.server.found(general, me, 'u:bo', 'u:cy');
  const { store } = await new Browser(world).tab();
  await world.until('the list of rooms is there', () => store.synced.value);
  await world.pass(60_000);
  const lists = () => world.server.requests.filter((r) => r.startsWith('/api/tenant/members')).length;
  const before = lists();
  for (let i = 0; i < 20; i++) {
    world.server.say(general, 'u:platform', 'welcome');
    await world.pass(1000);
  }
  assert.equal(lists() - before, 1);
  for (const [id, name] of [['u:bo', 'Bo'], ['u:cy', 'Cy']] as const) {
    world.server.names.set(id, name);
    world.server.say(general, id, 'hello');
    const began = world.time;
    await world.until(`${name} is known`, () => store.people.byId.value.get(id)?.name === name);
    assert.ok(world.time - began <= 1000, `it took ${world.time - began} ms`);
  }
});

test('a device that has never met who left knows their names', async () => {
  const world = new World();
  world.server.found(general, me);
  world.server.former = [{ user_id: 'u:bo', name: 'Bo' }, { user_id: agent, name: 'Scout', alike: true }, { user_id: 'u:nameless' }];
  world.server.say(general, 'u:bo', 'farewell');
  const browser = new Browser(world);
  const { store } = await browser.tab();
  await world.until('Bo is known', () => store.people.byId.value.has('u:bo'));
  assert.deepEqual(store.people.byId.value.get('u:bo'), { user_id: 'u:bo', name: 'Bo', alike: undefined, left: true });
  assert.deepEqual([...store.people.byId.value.values()].filter((p) => p.left).map(nameOf), ['Bo', 'Scout (01234567…cdef)', 'nameless']);
  world.server.former = [{ user_id: 'u:nameless' }];
  world.server.names.set('u:bo', 'Bo L').set(agent, 'Scout');
  await store.people.refresh();
  assert.deepEqual([store.people.byId.value.get('u:bo')?.left, nameOf(store.people.byId.value.get(agent)!)], [undefined, 'Scout']);
});

test('whoever wrote, and oneself, everywhere and from the next look on', async () => {
  const page = new Page();
  const session = await import('../src/session');
  const { start, store } = await import('../src/store');
  const { hasLeft, isNoMember, nameFor } = await import('../src/screens/Person');
  const { whoIs, wordsOf } = await import('../src/screens/room/who');
  page.server.found('r:general', 'u:ana', agent);
  page.server.names.set('u:ana', 'Ana Müller').set(agent, 'Scout');
  page.cookie = `${tenant}|u:ana`;
  session.start();
  start();
  await until('she is called by her name', () => nameFor('u:ana') === 'Ana Müller' && session.me.value?.name === 'Ana Müller');
  await until('the agent is, too', () => whoIs(agent).name === 'Scout');
  page.server.say('r:general', agent, `${agent} joined`);
  assert.equal(wordsOf({ ...page.server.rooms.get('r:general')!.messages.at(-1)!, type: 'system' }), 'Scout joined');
  assert.equal(nameFor('u:nobody-whom-anybody-here-knows'), 'nobody-w…nows');

  page.server.names.set('u:ana', 'Ana').set(agent, 'Scout 2');
  await store.value!.people.refresh();
  assert.deepEqual([nameFor('u:ana'), nameFor(agent)], ['Ana', 'Scout 2']);
  page.server.names.delete(agent);
  await store.value!.people.refresh();
  assert.deepEqual([nameFor(agent), whoIs(agent).left, hasLeft(agent)], ['Scout 2', true, true]); // by the last name that was known
  page.server.names.set(agent, 'Scout 3');
  await store.value!.people.refresh();
  assert.deepEqual([nameFor(agent), whoIs(agent).left], ['Scout 3', false]);
  assert.equal(isNoMember('u:gone-long-ago'), false); // before anybody has asked
  store.value!.people.meet(['u:gone-long-ago']);
  await until('the list lacks them', () => isNoMember('u:gone-long-ago'));
  page.server.names.delete('u:ana');
  await store.value!.people.refresh();
  await session.check();
  assert.equal(nameFor('u:ana'), 'ana');
  page.signIn('');
  await session.check();
});
