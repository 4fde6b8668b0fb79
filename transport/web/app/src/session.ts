// Who is signed in on this device. The server knows by its cookie, which scripts
// can't read; here is what it answered last, so that a start without a network
// shows what was seen before.

import { computed, signal } from '@preact/signals';
import { ApiError, get, onUnauthorized, post } from './api';
import type { Ways, Whoami } from './types';

// Session is 'loading' before the first answer, 'out' for nobody, 'unreachable' where
// neither the server nor this device can tell, else who it is.
export type Session = 'loading' | 'out' | 'unreachable' | Whoami;

export const session = signal<Session>('loading');

// me is who is signed in, null for nobody.
export const me = computed<Whoami | null>(() => (typeof session.value === 'string' ? null : session.value));
export const isOwner = computed(() => me.value?.role === 'owner');

const remembered = 'ubl.session';

// start asks the server, once now and again when the network returns.
export function start(): void {
  onUnauthorized(forget);
  addEventListener('online', () => void check());
  void check();
}

// check asks the server who is signed in.
export async function check(): Promise<void> {
  try {
    enter(await get<Whoami>('/api/whoami'));
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 401) return; // forget has been called
    if (me.value === null) session.value = recall() ?? 'unreachable';
  }
}

// signOut ends the session on the server first: offline one can't sign out.
export async function signOut(): Promise<void> {
  await post('/auth/signout');
  forget();
}

// ways are the ways to sign in that the server offers.
export async function ways(): Promise<Ways> {
  try {
    return await get<Ways>('/auth/ways');
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 404) return { passkeys: false, oidc: [], signed_in: false };
    throw problem;
  }
}

// enter keeps the same object for the same person, so that nothing starts over.
function enter({ identity, tenant_id, role, expires_at }: Whoami): void {
  const now: Whoami = { identity, tenant_id, role, expires_at };
  const text = JSON.stringify(now);
  if (JSON.stringify(session.value) !== text) session.value = now;
  localStorage.setItem(remembered, text);
}

function forget(): void {
  localStorage.removeItem(remembered);
  session.value = 'out';
}

function recall(): Whoami | null {
  try {
    return JSON.parse(localStorage.getItem(remembered) ?? 'null') as Whoami | null;
  } catch {
    return null;
  }
}
