import { effect, untracked } from '@preact/signals';
import { render } from 'preact';
import './style.css';
import { onConfirmation } from './api';
import { settle } from './device';
import { follow as followPresence } from './presence';
import { go, home, place } from './router';
import { confirm, Confirmation, forgo } from './screens/Confirm';
import { follow as greet, welcoming } from './screens/welcome/state';
import { check, me, person, session, start, sure } from './session';
import { start as startStore, store } from './store';
import { Announcer, silence } from './ui/Announcer';
import { dismiss, Questions } from './ui/Dialog';
import { Failed } from './ui/Empty';
import { Layout } from './ui/Layout';
import { lazy } from './ui/lazy';
import { Spinner } from './ui/Spinner';
import { follow } from './ui/title';
import { toast, Toasts } from './ui/Toast';
import { register } from './update';
import { keep, resume } from './waiting';
import { language, t } from './words';

const SignIn = lazy(() => import('./screens/SignIn'));
const Welcome = lazy(() => import('./screens/welcome/Welcome'));

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
      return <Failed problem={new Error(t('app.unreachable'))} onRetry={() => void check()} />;
  }
  if (welcoming.value) return <Welcome key={language.value} />;
  // Nothing that one has read stays for another, nor a text in another language.
  return <Layout key={`${person.value} ${language.value}`} />;
}

settle();
follow();
keep();
onConfirmation(confirm);
start();
startStore();
followPresence();
greet();
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
  if (lost.length > 0) untracked(() => toast(lost.length === 1 ? t('app.lost', { room: lost[0]! }) : t('app.lost.many', { n: lost.length })));
});
addEventListener('load', () => void register());
