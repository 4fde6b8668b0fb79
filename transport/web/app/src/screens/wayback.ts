// wayback.ts is about who came by an invitation: its link works once, and no provider knows
// them before they have proven their address. Without a passkey they can't come back.

import { passkeys } from '../passkey';
import { me } from '../session';

// lacksWayBack tells that who is signed in has no way to sign in again.
export const lacksWayBack = async () => me.peek()?.identity.unproven === true && (await passkeys()).passkeys.length === 0;

// warning is what signing out means for who lacks a way back, '' for all others. Where the
// server can't be asked one can't sign out either.
export const warning = async () => ((await lacksWayBack().catch(() => false)) ? ' You have no passkey and no provider: you can’t come back. Add a passkey first (More, Settings).' : '');
