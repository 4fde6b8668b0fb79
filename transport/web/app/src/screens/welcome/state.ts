// Whether somebody is here for the first time: they have no name yet, and weren't asked on
// this device. What was begun then, three things to do, stays until it is done.

import { effect, signal, untracked } from '@preact/signals';
import { go, home, place } from '../../router';
import { me, person, sure } from '../../session';

const asked = 'ubl.first.asked'; // whom this device has asked last
const begun = 'ubl.first.begun'; // who is shown what to begin with

// welcoming tells that the app asks for a name, and then for a passkey.
export const welcoming = signal(false);

// starting tells that who is signed in is shown what to begin with.
export const starting = signal(false);

// follow watches who comes. Only the server knows whether they have a name.
export function follow(): void {
  effect(() => {
    const who = person.value;
    const nameless = sure.value && me.value?.name === undefined;
    untracked(() => {
      if (who === '') welcoming.value = false;
      else if (nameless && localStorage.getItem(asked) !== who) welcoming.value = true;
      starting.value = who !== '' && localStorage.getItem(begun) === who;
    });
  });
}

// finish ends the questions. Who answered them comes to the room that everybody is in.
export function finish(answered: boolean): void {
  localStorage.setItem(asked, person.peek());
  if (answered) {
    localStorage.setItem(begun, person.peek());
    starting.value = true;
    if (place.peek().path === home) go('/ui/rooms/r:general', { replace: true });
  }
  welcoming.value = false;
}

// started takes away what is shown to begin with.
export function started(): void {
  localStorage.removeItem(begun);
  starting.value = false;
}
