// What the app offers in a room, by who writes there and what one is in it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rightsOf, type Known } from '../src/screens/room/rights';

test('one is offered what one may do: write, answer in threads, act on messages, delete others’', () => {
  const rows: [of: Known, may: string][] = [
    [{}, 'write answer act'], // nothing is known yet
    [{ role: 'member' }, 'write answer act'],
    [{ role: 'moderator' }, 'write answer act remove'],
    [{ role: 'owner' }, 'write answer act remove'],
    [{ role: 'member', posting: 'moderators' }, 'act'],
    [{ role: 'member', posting: 'threads' }, 'answer act'],
    [{ role: 'moderator', posting: 'moderators' }, 'write answer act remove'],
    [{ role: 'owner', posting: 'threads' }, 'write answer act remove'],
    [{ role: 'member', status: 'ended' }, ''],
    [{ status: 'ended', posting: 'threads' }, ''],
    [{ role: 'moderator', status: 'ended' }, 'remove'], // what was written can be taken away for good at any time
    [{ role: 'owner', status: 'ended', posting: 'threads' }, 'remove'],
  ];
  for (const [of, may] of rows) {
    const rights = rightsOf(of);
    assert.equal(Object.entries(rights).flatMap(([name, is]) => (is ? [name] : [])).join(' '), may, JSON.stringify(of));
  }
});
