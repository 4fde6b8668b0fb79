// What is unread, as the server counts it for all devices of a person.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/api';
import { Browser, me, quiet, World, type Tab } from './world';

const room = 'r:general';

async function home(): Promise<{ world: World; devices: [Tab, Tab]; browsers: [Browser, Browser] }> {
  const world = new World();
  world.server.marks = new Map();
  world.server.found(room, me, 'u:bo');
  for (const text of ['one', 'two', 'three']) world.server.say(room, 'u:bo', text);
  const browsers: [Browser, Browser] = [new Browser(world), new Browser(world)];
  const devices: [Tab, Tab] = [await browsers[0].tab(), await browsers[1].tab()];
  for (const { store } of devices) await world.until('it is live', () => store.synced.value && store.connection.value === 'live');
  return { world, devices, browsers };
}

const counts = ({ store }: Tab) => [store.rooms.get(room)!.unread, store.rooms.get(room)!.mentions];
const told = (world: World) => world.server.requests.filter((r) => r.startsWith(`${me} has read`));

test('a device that is new has what the server says is unread', async () => {
  const { devices } = await home();
  for (const device of devices) assert.deepEqual(counts(device), [3, 0]);
});

test('what is read on one device is read on all, soon, and told once', async () => {
  const { world, devices: [phone, desk] } = await home();
  phone.store.markRead(room, 1);
  phone.store.markRead(room, 2);
  phone.store.markRead(room, 3);
  assert.deepEqual(counts(phone), [0, 0]);
  await world.pass(1000);
  await world.until('the other device knows', () => counts(desk)[0] === 0);
  assert.deepEqual(told(world), [`${me} has read ${room} up to 3`]);
  world.server.say(room, 'u:bo', 'four');
  await quiet();
  assert.deepEqual([counts(phone), counts(desk)], [[1, 0], [1, 0]]);
});

test('a part that is read elsewhere leaves the rest, as the server counts it', async () => {
  const { world, devices: [phone, desk] } = await home();
  phone.store.markRead(room, 2);
  await world.pass(1000);
  await world.until('the other device knows', () => counts(desk)[0] === 1);
  assert.equal(desk.store.rooms.get(room)!.read_seq, 2);
});

test('one’s own messages, what the system says and answers in threads don’t count; mentions do', async () => {
  const { world, devices: [phone] } = await home();
  phone.store.markRead(room, 3);
  world.server.join(room, 'u:cy');
  await quiet();
  const before = counts(phone);
  world.server.say(room, 'u:bo', 'hello @ana', '', null, 'message', [me]);
  await quiet();
  assert.deepEqual(counts(phone), [before[0]! + 1, 1]);
  world.server.say(room, me, 'hello');
  await quiet();
  assert.deepEqual(counts(phone), [0, 0]); // who writes has read
});

test('what was read without a network is told when there is one, even after the page was closed', async () => {
  const { world, devices: [phone, desk], browsers: [browser] } = await home();
  browser.cut();
  phone.store.markRead(room, 3);
  await world.pass(2000);
  assert.deepEqual(counts(phone), [0, 0]);
  assert.deepEqual(counts(desk), [3, 0]);
  phone.crash();
  browser.connect();
  const after = await browser.tab();
  await world.until('it is live', () => after.store.synced.value);
  await world.pass(1000);
  await world.until('the other device knows', () => counts(desk)[0] === 0);
  assert.deepEqual(counts(after), [0, 0]);
});

test('a room that one may no longer read isn’t tried again', async () => {
  const { world, devices: [phone], browsers: [browser] } = await home();
  let tries = 0;
  browser.fault = (method, url) => {
    if (method !== 'POST' || !url.endsWith('/read')) return null;
    tries++;
    return new ApiError('not_a_member', 'no', 403);
  };
  phone.store.markRead(room, 3);
  await world.pass(35_000);
  assert.equal(tries, 1);
});
