import { useState } from 'preact/hooks';
import { query } from '../api';
import { signInWithPasskey } from '../ceremonies';
import { said } from '../said';
import { chosen } from '../device';
import { doorOf } from '../door';
import { passkeysWork } from '../passkey';
import { check, ended, ways } from '../session';
import { Problem } from '../ui/Await';
import { Button } from '../ui/Button';
import { Failed } from '../ui/Empty';
import { Field, Select } from '../ui/Field';
import { Spinner } from '../ui/Spinner';
import { useAct } from '../ui/useAct';
import { useLoad } from '../ui/useLoad';
import { language, t } from '../words';
import { languages, type Language } from '../words/locale';

// SignIn stands in place of any screen while nobody is signed in; the address
// stays, so that one arrives where one wanted to go.
export default function SignIn() {
  const { data, problem, reload } = useLoad(ways);
  return (
    <main class="entrance" data-current="true">
      <img src="/ui/icon.svg" alt="" width="72" height="72" />
      <h1>{t('signin.title')}</h1>
      <p class="lead">{t('signin.lead')}</p>
      {ended.value && (
        <p class="notice" role="status">
          {t('signin.ended')}
        </p>
      )}
      {problem ? <Failed problem={problem} onRetry={reload} /> : !data ? <Spinner /> : null}
      {data && (
        <div class="ways">
          {data.passkeys && passkeysWork && <Passkey />}
          {data.oidc.map(({ id, name }) => (
            <a key={id} class="button plain wide" href={`/auth/oidc/${encodeURIComponent(id)}/start${query({ return: wanted() })}`}>
              {t('signin.with', { name })}
            </a>
          ))}
        </div>
      )}
      <Links />
      <Languages />
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
        {t('signin.passkey')}
      </Button>
      <Problem of={act.problem} />
      {act.problem ? <p class="soft">{t('signin.passkey.where')}</p> : null}
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
        label={t('signin.link.field')}
        placeholder={t('signin.link.paste')}
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
        {t('signin.link.open')}
      </Button>
    </form>
  );
}

function Links() {
  return (
    <section class="links" aria-labelledby="links">
      <h2 id="links">{t('signin.link')}</h2>
      <p>{t('signin.link.once')}</p>
      <Paste />
      <ul>
        <li>{t('signin.invited')}</li>
        <li>{t('signin.operator')}</li>
        <li>{t('signin.stuck')}</li>
        <li>{t('signin.otherwise')}</li>
      </ul>
    </section>
  );
}

// Languages is for who can't read the one that the browser asked for.
function Languages() {
  const options = Object.entries(languages).map(([value, { name }]) => ({ value: value as Language, label: name }));
  return (
    <div class="language">
      <Select label={t('signin.language')} value={language.value} options={options} onValue={(value) => (chosen.value = value)} />
    </div>
  );
}
