// What the screens of agents ask for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTo, agents, lastCall } from '../src/screens/agents/api';
import type { ServiceToken } from '../src/types';

const token = { client_id: '0a1b.t:example.com', user_id: 'u:scribe' } as ServiceToken;

test('where the log can’t be read there is no last call, and nobody says that there was none', async () => {
  globalThis.fetch = async (url) =>
    String(url).startsWith('/api/portal/logs')
      ? Response.json({ error: { code: 'overloaded', message: 'too much to do' } }, { status: 503 })
      : Response.json({ service_tokens: [token] });
  const { tokens, calls } = await agents(new AbortController().signal);
  assert.deepEqual(tokens, [token]);
  assert.equal(calls, null);
  assert.equal(lastCall(token, calls), undefined);
});

test('an agent that is in a place already is not missing there', async () => {
  globalThis.fetch = async (url) => {
    if (String(url).includes('general')) return Response.json({ error: { code: 'conflict', message: 'the user is a member already' } }, { status: 409 });
    return Response.json({ error: { code: 'not_a_member', message: 'the caller is not in it' } }, { status: 403 });
  };
  assert.deepEqual(await addTo(['r:general', 'w:general', 'w:board'], 'u:scribe'), ['board (workspace): The caller is not in it']);
});
