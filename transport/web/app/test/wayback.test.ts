// Who may sign out and come back.

import type { VNode } from 'preact';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Page, until } from './page';
import { tenant } from './server';

const page = new Page();
Object.assign(globalThis, { isSecureContext: false });
const session = await import('../src/session');
const { leave, warning } = await import('../src/screens/wayback');
const { Questions } = await import('../src/ui/Dialog');
const { Toasts } = await import('../src/ui/Toast');

const question = { title: 'Sign out?', text: 'All is deleted.', action: 'Sign out' };

// textOf is all that a component shows.
const textOf = (of: unknown): string => (Array.isArray(of) ? of.map(textOf).join(' ') : typeof of === 'object' && of ? textOf((of as VNode<{ children?: unknown }>).props.children) : String(of ?? ''));

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

test('without the server nobody is asked to sign out, but told that they can’t', async () => {
  page.offline = true;
  await leave(question);
  assert.equal(Questions(), null);
  assert.match(textOf(Toasts()), /can’t sign out now.*nothing was deleted/);
  assert.equal(session.me.value?.identity.user_id, 'u:eve');
  page.offline = false;
  void leave(question);
  await until('it is asked', () => Questions() !== null);
  assert.match(textOf(Questions()), /All is deleted/);
});
