// What is known of passkeys without using one; ceremonies.ts has the rest, which few screens need.

import { get } from './api';
import type { Passkey } from './types';

export const passkeysWork = typeof PublicKeyCredential === 'function' && isSecureContext;

// passkeys lists those of who is signed in.
export const passkeys = () => get<{ passkeys: Passkey[] }>('/api/passkeys');
