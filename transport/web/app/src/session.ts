// Who is signed in on this device. The server knows by its cookie, which scripts
// can't read; here is what it answered last, so that a start without a network
// shows what was seen before, and one with a bad network doesn't wait for it.

import { computed, signal } from '@preact/signals';
import { actAs, ApiError, del, get, onUnauthorized, personID, post } from './api';
import type { Ways, Whoami } from './types';

// Session is 'loading' before the first answer, 'out' for nobody, 'unreachable' where
// neither the server nor this device can tell, else who it is.
export type Session = 'loading' | 'out' | 'unreachable' | Whoami;

export const session = signal<Session>('loading');

// me is who is signed in, null for nobody.
export const me = computed<Whoami | null>(() => (typeof session.value === 'string' ? null : session.value));
export const isOwner = computed(() => me.value?.role === 'owner');
// isOperator tells that they run the platform: they back it up, and see its nodes.
export const isOperator = computed(() => me.value?.operator === true);

// sure tells that the server itself has said since this page was opened that somebody is signed in.
export const sure = signal(false);

// person is who it is, by tenant and id alone, as text that stays the same with every
// answer; "" for nobody.
export const person = computed(() => (me.value === null ? '' : personID({ tenant_id: me.value.tenant_id, user_id: me.value.identity.user_id })));

// ended tells that somebody ended the session: the person from elsewhere, or an owner by
// removing them. Then this device keeps nothing. A session that merely expired is none.
export const ended = signal(false);

const remembered = 'ubl.session';
const endedKey = 'ubl.ended'; // is kept until somebody is signed in
// personal begin the keys of what this device knows of a person besides: what it has checked of
// ledgers, and whether it has asked for their name.
const personal = ['ubl.verified.', 'ubl.first.'];

// pause is how long the cookie that takes an ended one's place may be on its way, in ms:
// confirming and signing in once more end the session before.
const pause = 1000;

// rest is how long a server rests that can't be reached and says nothing of it, before one
// asks again by oneself, in seconds.
const rest = 3;

let asked = 0;
let again: ReturnType<typeof setTimeout> | undefined;

// start shows the app to whom this device remembers, and asks the server meanwhile: now,
// when the network comes or goes, when a request was refused, and when another tab has found
// that somebody else is signed in.
export function start(): void {
  onUnauthorized(() => void check());
  addEventListener('online', () => void check());
  addEventListener('offline', () => void check()); // the server may be on this machine
  addEventListener('storage', ({ key }) => void (key === remembered && check()));
  become(recall() ?? 'loading');
  void check();
}

// check asks the server whose the cookie is. Of several that are under way the last one
// counts, since a cookie may have come in between.
export async function check(): Promise<void> {
  const mine = ++asked;
  clearTimeout(again);
  let answer = await ask().catch((problem: unknown) => problem);
  if (mine === asked && isRevoked(answer)) {
    await new Promise((done) => setTimeout(done, pause));
    if (mine === asked) answer = await ask().catch((problem: unknown) => problem);
  }
  if (mine !== asked) return;
  if (isRevoked(answer)) localStorage.setItem(endedKey, 'revoked');
  if (answer === null || isOver(answer)) forget();
  else if (!(answer instanceof Error)) enter(answer as Whoami);
  else if (me.value === null) become(recall() ?? 'unreachable');
  if (session.value === 'unreachable') again = setTimeout(() => void check(), ((answer as ApiError).retryAfter ?? rest) * 1000);
}

// ask is who is signed in, null for nobody. Where nobody is likely it asks for less at
// first: browsers report the refusal of the rest as an error.
async function ask(): Promise<Whoami | null> {
  if (recall() === null && !(await ways()).signed_in) return null;
  return get<Whoami>('/api/whoami', { as: null });
}

// signOut ends the session on the server first: offline one can't sign out. One that has
// ended already is no failure. everywhere ends all sessions, and this one among them.
export async function signOut(everywhere: boolean): Promise<void> {
  if (everywhere) await del('/api/tokens');
  await post('/auth/signout').catch((problem: unknown) => {
    if (!everywhere && !isOver(problem)) throw problem;
  });
  unlearn();
  forget();
}

// unlearn drops what this device knows of a person besides their store.
export function unlearn(): void {
  for (const key of Object.keys(localStorage)) if (personal.some((begin) => key.startsWith(begin))) localStorage.removeItem(key);
}

const isRevoked = (problem: unknown) => isOver(problem) && (problem as ApiError).details.credential === 'revoked';

const isOver = (problem: unknown) => problem instanceof ApiError && problem.status === 401;

// ways are the ways to sign in that the server offers, and whether somebody is.
export async function ways(): Promise<Ways> {
  try {
    return await get<Ways>('/auth/ways', { as: null });
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 404) return { passkeys: false, oidc: [], signed_in: false };
    throw problem;
  }
}

function enter({ identity, tenant_id, name, role, operator, expires_at }: Whoami): void {
  const now: Whoami = { identity, tenant_id, name, role, operator, expires_at };
  become(now);
  sure.value = true;
  localStorage.removeItem(endedKey);
  localStorage.setItem(remembered, JSON.stringify(now));
}

function forget(): void {
  asked++; // what was answered before is old
  localStorage.removeItem(remembered);
  sure.value = false;
  become('out');
}

// become keeps the same object for the same person, so that nothing starts over. From
// here on requests are for whoever it is.
function become(now: Session): void {
  ended.value = now === 'out' && localStorage.getItem(endedKey) !== null;
  actAs(typeof now === 'string' ? null : personID({ tenant_id: now.tenant_id, user_id: now.identity.user_id }));
  if (JSON.stringify(session.value) !== JSON.stringify(now)) session.value = now;
}

// recall is who was signed in last, as far as what is kept makes sense.
function recall(): Whoami | null {
  try {
    const kept = JSON.parse(localStorage.getItem(remembered) ?? 'null') as Whoami | null;
    return typeof kept?.identity.user_id === 'string' ? kept : null;
  } catch {
    return null;
  }
}
