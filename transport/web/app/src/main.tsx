import { effect } from '@preact/signals';
import { render } from 'preact';
import './style.css';
import { settle } from './device';
import { go, home, place } from './router';
import { SignIn } from './screens/SignIn';
import { check, me, person, session, start } from './session';
import { start as startStore } from './store';
import { Announcer } from './ui/Announcer';
import { dismiss, Questions } from './ui/Dialog';
import { Failed } from './ui/Empty';
import { Layout } from './ui/Layout';
import { Spinner } from './ui/Spinner';
import { Toasts } from './ui/Toast';
import { register } from './update';

function App() {
  return (
    <>
      <Face />
      <Questions />
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
start();
startStore();
render(<App />, document.getElementById('app')!);

// Who is signed in has no business at the door.
effect(() => {
  if (me.value && place.value.path === '/ui/sign-in') go(home, { replace: true });
});
// Nobody agrees to what somebody else was asked.
effect(() => {
  person.value;
  dismiss();
});
addEventListener('load', () => void register());
