import { effect, untracked } from '@preact/signals';
import { render } from 'preact';
import './style.css';
import { onConfirmation } from './api';
import { settle } from './device';
import { go, home, place } from './router';
import { confirm, Confirmation, forgo } from './screens/Confirm';
import { SignIn } from './screens/SignIn';
import { check, me, person, session, start, sure } from './session';
import { start as startStore, store } from './store';
import { count } from './text';
import { Announcer, silence } from './ui/Announcer';
import { dismiss, Questions } from './ui/Dialog';
import { Failed } from './ui/Empty';
import { Layout } from './ui/Layout';
import { Spinner } from './ui/Spinner';
import { toast, Toasts } from './ui/Toast';
import { register } from './update';
import { keep, resume } from './waiting';

function App() {
  return (
    <>
      <Face />
      <Questions />
      <Confirmation />
      <Toasts />
      <Announcer />
    </>
  );
}

function Face() {
  switch (session.value) {
    case 'loading':
      return <Spinner />;
    case 'out':
      return <SignIn />;
    case 'unreachable':
      return <Failed problem={new Error('the server can’t be reached')} onRetry={() => void check()} />;
  }
  return <Layout key={person.value} />; // nothing that one has read stays for another
}

settle();
keep();
onConfirmation(confirm);
start();
startStore();
render(<App />, document.getElementById('app')!);

// Who is signed in has no business at the door, and goes on to what waited for that. Only the
// server's word counts: it would send back whom this device alone remembers.
effect(() => {
  if (sure.value && resume()) return;
  if (me.value && place.value.path === '/ui/sign-in') go(home, { replace: true });
});
// Nobody agrees to what somebody else was asked, nor hears what was said to them.
effect(() => {
  person.value;
  dismiss();
  forgo();
  silence();
});
// Who is taken out of a room is told why it is gone.
effect(() => {
  const lost = store.value?.lost.value ?? [];
  if (lost.length > 0) untracked(() => toast(`You are no longer in ${lost.length === 1 ? `“${lost[0]}”` : count(lost.length, 'room')}`));
});
addEventListener('load', () => void register());
