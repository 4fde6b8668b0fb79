// Who a page is for: what happens to it as people come and go in the same browser. The
// tests are one story, since a page has one session.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Page, until } from './page';
import { tenant } from './server';

const page = new Page();
const session = await import('../src/session');
const { signOut, start, store } = await import('../src/store');
const drafts = await import('../src/screens/documents/drafts');
const api = await import('../src/api');

const room = 'r:general';
const whose = () => store.value?.who.user_id;
const rooms = () => store.value?.rooms.mine.value.map((r) => r.room_id).join() ?? '';
const said = () => page.server.rooms.get(room)!.messages.map((m) => `${m.sender_id}: ${m.body.text}`);
const written = { title: 'Plans', content: 'of Ana', known: 1 };

// turns lets all that needs no timer happen.
const turns = async () => {
  for (let i = 0; i < 50; i++) await new Promise(setImmediate);
};

page.server.found(room, 'u:ana', 'u:bo');
page.server.found('r:secret', 'u:bo');

test('whom the device remembers has the app at once, though the network hangs', async () => {
  page.hangs = [];
  page.remember('u:ana');
  page.cookie = `${tenant}|u:ana`;
  session.start();
  start();
  assert.equal(session.me.value?.identity.user_id, 'u:ana');
  await until('the store is open', () => whose() === 'u:ana');
  page.resume();
  await until('the rooms are there', () => rooms() === room);
});

test('every request names whom it is for, but the one that asks who it is', async () => {
  await api.get('/api/tenant/members');
  await store.value!.send(room, 'hello');
  await until('it was said', () => said().includes('u:ana: hello'));
  for (const { url, as } of page.asked) assert.equal(as, url === '/api/whoami' ? null : `${tenant}|u:ana`, url);
  for (const url of ['/api/events', `/api/rooms/${room}/messages`, '/api/rooms?details=true']) assert.ok(page.asked.some((a) => a.url === url), url);
});

test('when another tab signs somebody else in, nothing goes on under their name', async () => {
  const anas = store.value!;
  drafts.keep('w:main', 'd:plans', written);
  page.signIn('u:bo');
  await anas.send(room, 'for my own eyes');
  await until('the app is for Bo', () => whose() === 'u:bo' && rooms().includes('r:secret'));
  assert.equal(session.person.value, `${tenant}|u:bo`);
  assert.deepEqual(anas.rooms.mine.value.map((r) => r.room_id), [room]);
  assert.ok(!said().some((words) => words.includes('for my own eyes')), said().join());
  assert.equal(drafts.draftOf('w:main', 'd:plans'), undefined);
});

test('another tab tells it at once, and the first one finds what was left', async () => {
  page.cookie = `${tenant}|u:ana`; // and Bo's stream goes on as if nothing was
  const before = page.asked.length;
  page.remember('u:ana');
  await until('the app is for Ana', () => whose() === 'u:ana');
  assert.equal(page.asked[before]?.url, '/api/whoami');
  await until('what she wrote is sent', () => said().includes('u:ana: for my own eyes'));
  assert.equal(rooms(), room);
  assert.deepEqual(drafts.draftOf('w:main', 'd:plans'), written);
});

test('a session that has ended leaves what is kept for the next', async () => {
  page.signIn('');
  await until('nobody is signed in', () => session.session.value === 'out' && store.value === null);
  assert.equal(page.kept.has('ubl.session'), false);
  page.signIn('u:ana');
  await session.check();
  await until('the store is open', () => whose() === 'u:ana');
  assert.equal(rooms(), room);
});

test('a cookie that takes an ended one’s place is waited for', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  page.revoke();
  const checked = session.check();
  await until('it was refused', () => page.asked.at(-1)?.url === '/api/whoami');
  await turns();
  assert.equal(whose(), 'u:ana');
  page.signIn('u:ana');
  mock.timers.tick(1000);
  mock.timers.reset();
  await checked;
  assert.equal(whose(), 'u:ana');
  assert.equal(session.ended.value, false);
});

test('whose session somebody has ended is told, and this device keeps nothing of theirs', async () => {
  page.kept.set('ubl.verified.t:test', '{}');
  mock.timers.enable({ apis: ['setTimeout'] });
  page.revoke();
  const checked = session.check();
  await turns();
  mock.timers.tick(1000);
  mock.timers.reset();
  await checked;
  await until('the page starts over', () => page.visited.length > 0);
  assert.equal(page.visited.pop(), '/ui/');
  assert.equal(session.session.value, 'out');
  assert.equal(session.ended.value, true);
  assert.equal(store.value, null);
  assert.deepEqual([...page.kept.keys()], ['ubl.ended']);
  assert.deepEqual((await indexedDB.databases()).map((db) => db.name), [`ubl/${tenant}/u:bo`]);
  page.signIn('');
  await session.check();
  assert.equal(session.ended.value, true); // in the page that comes next, too
  page.signIn('u:ana');
  await session.check();
  assert.equal(session.ended.value, false);
  await until('the store is open', () => whose() === 'u:ana');
});

test('a device that remembers nobody asks nothing that the server would refuse', async () => {
  page.signIn('');
  await until('nobody is signed in', () => session.session.value === 'out' && store.value === null);
  const before = page.asked.length;
  await session.check();
  assert.deepEqual(page.asked.slice(before), [{ method: 'GET', url: '/auth/ways', as: null }]);
  assert.equal(session.session.value, 'out');
  page.signIn('u:ana');
  await session.check();
  assert.deepEqual(page.asked.slice(before).map((a) => a.url).slice(1, 3), ['/auth/ways', '/api/whoami']);
  await until('the store is open', () => whose() === 'u:ana');
});

for (const everywhere of [false, true]) {
  test(`signing out ${everywhere ? 'everywhere' : 'here'} leaves nothing behind`, async () => {
    await until('it is in use', () => rooms() === room);
    page.kept.set('ubl.verified.t:test', '{}').set('ubl.theme', 'dark');
    await signOut(everywhere);
    await until('the store is gone', () => store.value === null);
    assert.equal(session.session.value, 'out');
    assert.deepEqual([...page.kept.keys()], ['ubl.theme']);
    assert.equal(page.visited.pop(), '/ui/'); // with it goes all that the page knew
    assert.deepEqual((await indexedDB.databases()).map((db) => db.name), [`ubl/${tenant}/u:bo`]); // which is not hers to delete
    page.signIn('u:ana');
    await session.check();
  });
}

test('a later answer about who is signed in counts, though an earlier one comes last', async () => {
  await until('it is in use', () => rooms() === room);
  page.hangs = [];
  const early = session.check();
  page.signIn('');
  const late = session.check();
  page.hangs.reverse();
  page.resume();
  await Promise.all([early, late]);
  assert.equal(session.session.value, 'out');
  await until('the store is gone', () => store.value === null);
});

test('a server that can’t be reached at first is asked again by itself', async () => {
  page.signIn('u:ana');
  page.offline = true;
  mock.timers.enable({ apis: ['setTimeout'] });
  await session.check();
  assert.equal(session.session.value, 'unreachable');
  mock.timers.tick(3000);
  await turns();
  assert.equal(session.session.value, 'unreachable');
  page.offline = false;
  mock.timers.tick(3000);
  mock.timers.reset();
  await until('the store is open', () => whose() === 'u:ana');
});
