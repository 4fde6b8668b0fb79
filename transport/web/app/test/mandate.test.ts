// What an agent may do: chosen, kept and said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agreementOf, choicesOf, grants, inShort, mandateOf, problemOf, say, usual } from '../src/screens/agents/mandate';
import type { Server, ServiceToken } from '../src/types';

const all = grants([{ server_id: 'weather', name: 'Weather' } as Server]);
const called = (id: string) => ({ 'r:general': 'general (room)' })[id] ?? id;

test('what is usual: talk and documents, in the places that were chosen', () => {
  const mandate = mandateOf({ ...usual, places: ['r:general'] }, all)!;
  assert.deepEqual(mandate.sets, []);
  assert.deepEqual(mandate.tools, ['messenger.*', 'office.document.*', 'office.workspace.*', 'room.get', 'room.join', 'room.leave', 'room.member.list']);
  assert.deepEqual([mandate.places, mandate.read_only, mandate.per_minute], [['r:general'], false, 60]);
});

test('a person is asked first where that was chosen, and absent is never', () => {
  const asks = mandateOf({ ...usual, everything: true, everywhere: true, often: '', confirm: 'destructive' }, all)!;
  assert.equal(asks.confirm, 'destructive');
  assert.equal(choicesOf(asks, all).confirm, 'destructive');
  assert.deepEqual(say(asks, all, called).bounds, ['Asks a person before it replaces or deletes something']);
  const never = mandateOf({ ...usual, places: ['r:general'] }, all)!;
  assert.ok(!('confirm' in never));
  assert.equal(choicesOf(never, all).confirm, 'never');
});

test('a server is a set of its own, by its long name', () => {
  const mandate = mandateOf({ ...usual, uses: ['server:weather'], everywhere: true }, all)!;
  assert.deepEqual([mandate.sets, mandate.tools, mandate.places], [['server:weather'], ['weather.*'], []]);
});

test('a mandate comes back as it was chosen', () => {
  for (const choices of [
    { ...usual, places: ['r:general'] },
    { ...usual, uses: ['files'], more: ['room.get'], places: ['w:general'], read_only: true, often: '' },
    { ...usual, everything: true, places: ['r:general'] },
    { ...usual, everywhere: true },
  ]) {
    assert.deepEqual(choicesOf(mandateOf(choices, all)!, all), choices);
  }
});

test('what bounds nothing is no mandate', () => {
  const free = choicesOf(undefined, all);
  assert.equal(problemOf(free), null);
  assert.equal(mandateOf(free, all), null);
});

test('what has to be mended', () => {
  assert.match(problemOf(usual)!, /at least one room/);
  assert.match(problemOf({ ...usual, uses: [], everywhere: true })!, /what it may do/);
  for (const often of ['0', '-1', '1.5', '100001', 'many']) assert.match(problemOf({ ...usual, everywhere: true, often })!, /Calls a minute/);
});

test('in words', () => {
  const said = say({ sets: [], tools: ['messenger.*', 'room.get', 'room.join', 'room.leave', 'room.member.list', 'weather.forecast'], read_only: true, places: ['r:general'], per_minute: 60 }, all, called);
  assert.deepEqual(said.can, ['Read and send messages, and see who is in a room', 'Use weather.forecast']);
  assert.equal(inShort(said), 'Only in general (room); changes nothing; 60 calls a minute at most');
  assert.deepEqual(say(undefined, all, called), { can: ['Whatever a member may do'], where: 'Wherever members are let in', bounds: [] });
});

test('its Agreement', () => {
  assert.equal(agreementOf({ client_id: '0a1b.t:example.com' } as ServiceToken), 'a:agent:0a1b');
});
