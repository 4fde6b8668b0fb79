// Configurations that agents can use as they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configs } from '../src/screens/settings/mcp';

const token = { client_id: 'c1', client_secret: 's3cret' };
const text = (origin: string, id: string) => configs(origin, token).find((c) => c.id === id)!.text;

test('for clients that take headers', () => {
  assert.deepEqual(JSON.parse(text('https://ubl.example', 'http')), {
    mcpServers: { ubl: { type: 'http', url: 'https://ubl.example/portal/mcp', headers: { 'CF-Access-Client-Id': 'c1', 'CF-Access-Client-Secret': 's3cret' } } },
  });
});

test('for mcp-remote: the secret is no argument, which other users of the machine could see', () => {
  const { ubl } = JSON.parse(text('https://ubl.example', 'bridge')).mcpServers;
  assert.equal(ubl.args.join(' ').includes('s3cret'), false);
  assert.deepEqual(ubl.env, { UBL_CLIENT_ID: 'c1', UBL_CLIENT_SECRET: 's3cret' });
  assert.equal(ubl.args.includes('--allow-http'), false);
  assert.ok(JSON.parse(text('http://localhost:8080', 'bridge')).mcpServers.ubl.args.includes('--allow-http'));
});

test('for a shell', () => {
  assert.match(text('https://ubl.example', 'shell'), /^claude mcp add --transport http ubl https:\/\/ubl\.example\/portal\/mcp /);
});
