// The store of whoever is signed in here. Screens read store.value and its signals.

import { effect, signal } from '@preact/signals';
import { personID } from '../api';
import * as session from '../session';
import { browser } from './env';
import { openStore, wipeStore, type Store, type Who } from './sync';

// store is null while nobody is signed in, and for a moment while it opens.
export const store = signal<Store | null>(null);

// opened is the store of whoever is signed in, as soon as it is there.
export function opened(): Promise<Store> {
  const ready = (now: Store | null): now is Store => now !== null && personID(now.who) === session.person.peek();
  const now = store.peek();
  if (ready(now)) return Promise.resolve(now);
  return new Promise((resolve) => {
    const stop = store.subscribe((then) => {
      if (!ready(then)) return;
      stop();
      resolve(then);
    });
  });
}

// start opens and stops stores as people come and go. Whose session has expired finds
// everything, and what wasn't sent, when they sign in again. Whose session was ended by
// somebody finds nothing: they may have been removed, or have lost this device.
export function start(): void {
  let opening: Promise<void> = Promise.resolve();
  let last: Who | null = null;
  effect(() => {
    const person = session.person.value;
    const now = session.me.peek();
    const who = now && { tenant_id: now.tenant_id, user_id: now.identity.user_id };
    const expelled = who === null && session.ended.peek() ? last : null;
    last = who;
    opening = opening.then(async () => {
      store.peek()?.stop();
      store.value = null;
      if (expelled) await expel(expelled);
      if (who === null || person !== session.person.peek()) return;
      store.value = await openStore(browser(person), who, gone);
    });
  });
}

// expel leaves nothing of a person here, in this page neither.
async function expel(who: Who) {
  session.unlearn();
  await wipeStore(browser(personID(who)), who);
  location.replace('/ui/');
}

// signOut ends the session on the server, everywhere all of the person's, and then
// leaves nothing of it here, in this page neither. It fails where the server can't be
// reached.
export async function signOut(everywhere = false): Promise<void> {
  const mine = store.value; // the store is taken away as soon as the session is over
  await session.signOut(everywhere);
  await mine?.wipe();
  location.replace('/ui/');
}

// gone: another tab has signed out.
function gone() {
  store.peek()?.stop();
  void session.check();
}
