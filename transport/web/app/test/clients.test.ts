// What MCP clients are told, filled in as package web does it in Go: filled.json is from there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, clients, endpoint, fill } from '../src/screens/agents/clients';
import filled from './filled.json';

test('each client is told the same here and at the command line', () => {
  assert.equal(filled.length, clients.length * 4);
  for (const { client, way, url, token, text, link } of filled) {
    const found = clients.find((c) => c.id === client)!;
    const here = fill(found[way as 'token' | 'sign_in'], url, token);
    assert.equal(here.text, text);
    assert.equal(here.link ?? '', link);
  }
});

test('a service token is one string', () => {
  assert.equal(bearer('0a1b.t:example.com', '2c3d'), 'ubl_0a1b_2c3d_example.com');
});

test('the portal is at the origin', () => {
  assert.equal(endpoint('https://ubl.example.com'), 'https://ubl.example.com/portal/mcp');
});

test('the token is no argument of mcp-remote, which other users of the machine could see', () => {
  const desktop = clients.find((c) => c.id === 'claude-desktop')!;
  const { ubl } = JSON.parse(fill(desktop.token, 'https://ubl.example.com/portal/mcp', 't0ken').text).mcpServers;
  assert.equal(ubl.args.join(' ').includes('t0ken'), false);
  assert.equal(ubl.args.includes('--allow-http'), false);
});
