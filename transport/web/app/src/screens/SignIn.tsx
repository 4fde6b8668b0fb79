import { useState } from 'preact/hooks';
import { query, said } from '../api';
import { doorOf } from '../door';
import { passkeysWork, signInWithPasskey } from '../passkey';
import { check, ended, ways } from '../session';
import { Problem } from '../ui/Await';
import { Button } from '../ui/Button';
import { Failed } from '../ui/Empty';
import { Field } from '../ui/Field';
import { Spinner } from '../ui/Spinner';
import { useAct } from '../ui/useAct';
import { useLoad } from '../ui/useLoad';

// SignIn stands in place of any screen while nobody is signed in; the address
// stays, so that one arrives where one wanted to go.
export function SignIn() {
  const { data, problem, reload } = useLoad(ways);
  return (
    <main class="entrance" data-current="true">
      <img src="/ui/icon.svg" alt="" width="72" height="72" />
      <h1>Sign in to UBL</h1>
      <p class="lead">Rooms for people and agents, with a receipt for every action.</p>
      {ended.value && (
        <p class="notice" role="status">
          You were signed out: you ended this session elsewhere, or an owner removed you. What this device kept is deleted, unsent messages too.
        </p>
      )}
      {problem ? <Failed problem={problem} onRetry={reload} /> : !data ? <Spinner /> : null}
      {data && (
        <div class="ways">
          {data.passkeys && passkeysWork && <Passkey />}
          {data.oidc.map(({ id, name }) => (
            <a key={id} class="button plain wide" href={`/auth/oidc/${encodeURIComponent(id)}/start${query({ return: wanted() })}`}>
              Continue with {name}
            </a>
          ))}
        </div>
      )}
      <Links />
    </main>
  );
}

// wanted is where to go after signing in elsewhere.
const wanted = () => (location.pathname === '/ui/sign-in' ? '/ui/' : location.pathname + location.search);

function Passkey() {
  const act = useAct();
  return (
    <>
      <Button kind="primary" icon="key" wide busy={act.busy} onClick={() => void act.run(() => signInWithPasskey().then(check))}>
        Sign in with a passkey
      </Button>
      <Problem of={act.problem} />
      {act.problem ? <p class="soft">Is your passkey on a phone or a key? Choose that in what the browser shows. Otherwise sign in with a link, as below.</p> : null}
    </>
  );
}

// Paste opens a link here that would open elsewhere.
function Paste() {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const open = () => {
    try {
      location.assign(doorOf(text, location.origin));
    } catch (wrong) {
      setProblem(said(wrong));
    }
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        open();
      }}
    >
      <Field
        label="Your link"
        placeholder="Paste it here"
        value={text}
        onValue={(now) => {
          setText(now);
          setProblem(undefined);
        }}
        error={problem}
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
      />
      <Button type="submit" wide disabled={text.trim() === ''}>
        Open
      </Button>
    </form>
  );
}

function Links() {
  return (
    <section class="links" aria-labelledby="links">
      <h2 id="links">With a link</h2>
      <p>A link signs you in once. Afterwards this device can keep a passkey.</p>
      <Paste />
      <ul>
        <li>Were you invited? Open the invitation that you were sent.</li>
        <li>Do you run this server? It prints a link when it starts.</li>
        <li>Did you come by an invitation, and have no passkey and no provider? Its link works once: ask an owner to remove you and invite you again. You get a new id.</li>
        <li>Otherwise ask an owner to invite you.</li>
      </ul>
    </section>
  );
}
