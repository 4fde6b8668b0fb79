// Signing in where this device has no passkey.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Page } from './page';

new Page();
Object.assign(globalThis, { isSecureContext: true, PublicKeyCredential: class {} });
const { confirmWithPasskey, signInWithPasskey } = await import('../src/ceremonies');

test('a device without a passkey says so, and what failed otherwise is told as it is', async () => {
  globalThis.fetch = async () => Response.json({ publicKey: { challenge: '' } });
  for (const use of [signInWithPasskey, confirmWithPasskey]) {
    browserSays(new DOMException('not allowed', 'NotAllowedError'));
    await assert.rejects(use, /No passkey was used/);
    browserSays(new DOMException('insecure', 'SecurityError'));
    await assert.rejects(use, /insecure/);
  }
});

function browserSays(problem: Error) {
  Object.assign(navigator, { credentials: { get: () => Promise.reject(problem) } });
}
