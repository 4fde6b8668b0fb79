// Who may sign out and come back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Page } from './page';
import { tenant } from './server';

const page = new Page();
Object.assign(globalThis, { isSecureContext: false });
const session = await import('../src/session');
const { warning } = await import('../src/screens/wayback');

test('only who is unproven and has no passkey is warned', async () => {
  page.cookie = `${tenant}|u:eve`;
  page.unproven = true;
  await session.check();
  assert.match(await warning(), /can’t come back/);
  page.passkeys = 1;
  assert.equal(await warning(), '');
  page.passkeys = 0;
  page.unproven = false;
  await session.check();
  assert.equal(await warning(), '');
});
