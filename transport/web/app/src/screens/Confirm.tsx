// Before the server does what is sensitive, it wants a proof of who asks that isn't old.
// Here the person gives it, and what they wanted to do continues.

import { signal } from '@preact/signals';
import { lazy } from '../ui/lazy';

const Ask = lazy(() => import('./ConfirmAsk'));

const asked = signal<{ done: Promise<boolean>; answer: (yes: boolean) => void } | null>(null);

// confirm asks the person to confirm that it is them, and tells whether they did. What
// asks meanwhile waits for the same answer.
export function confirm(): Promise<boolean> {
  if (asked.peek()) return asked.peek()!.done;
  let answer = (_: boolean) => {};
  const done = new Promise<boolean>((resolve) => {
    answer = (yes) => {
      asked.value = null;
      resolve(yes);
    };
  });
  asked.value = { done, answer };
  return done;
}

// forgo ends what is being asked, as if the person hadn't confirmed.
export const forgo = () => asked.peek()?.answer(false);

// Confirmation is where confirm asks; the app has one.
export function Confirmation() {
  const now = asked.value;
  return now && <Ask answer={now.answer} />;
}
