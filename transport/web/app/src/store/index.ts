// The store of whoever is signed in here. Screens read store.value and its signals.

import { computed, effect, signal } from '@preact/signals';
import { ApiError } from '../api';
import * as session from '../session';
import { browser } from './env';
import { openStore, type Store } from './sync';

// store is null while nobody is signed in, and for a moment while it opens.
export const store = signal<Store | null>(null);

// person changes only when somebody else is signed in, and not with every answer.
const person = computed(() => {
  const { me } = session;
  return me.value ? JSON.stringify({ tenant_id: me.value.tenant_id, user_id: me.value.identity.user_id }) : null;
});

// start opens and stops stores as people come and go. Who is signed out by the server
// finds everything, and what wasn't sent, when they sign in again.
export function start(): void {
  let opening: Promise<void> = Promise.resolve();
  effect(() => {
    const who = person.value;
    opening = opening.then(async () => {
      store.peek()?.stop();
      store.value = null;
      if (who !== null && who === person.peek()) store.value = await openStore(browser(), JSON.parse(who), gone);
    });
  });
}

// signOut ends the session on the server, and then leaves nothing of it here. It fails
// where the server can't be reached; a session that has ended already is no failure.
export async function signOut(): Promise<void> {
  const mine = store.value;
  await session.signOut().catch((problem: unknown) => {
    if (!(problem instanceof ApiError && problem.status === 401)) throw problem;
  });
  await mine?.wipe();
}

// gone: another tab has signed out.
function gone() {
  store.peek()?.stop();
  void session.check();
}
