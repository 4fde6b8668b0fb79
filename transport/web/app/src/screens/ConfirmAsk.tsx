// The ways in which somebody confirms that it is them.

import { useEffect, useState } from 'preact/hooks';
import { get, post, query } from '../api';
import { confirmationOf } from '../door';
import { confirmWithPasskey } from '../ceremonies';
import { passkeysWork } from '../passkey';
import type { ConfirmWays } from '../types';
import { Await, Problem } from '../ui/Await';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Field } from '../ui/Field';
import { useAct } from '../ui/useAct';
import { useLoad } from '../ui/useLoad';
import { t } from '../words';

// pulse is how often a page asks whether the person has confirmed in another tab, in ms.
const pulse = 2000;

export const ways = (signal?: AbortSignal) => get<ConfirmWays>('/auth/confirm', { signal });

// Ask is the dialog in which a person confirms that it is them.
export default function Ask({ answer }: { answer: (yes: boolean) => void }) {
  const known = useLoad(ways);
  const elsewhere = (known.data?.oidc.length ?? 0) > 0 || known.data?.link;
  useEffect(() => (elsewhere ? watch(() => answer(true)) : undefined), [elsewhere]);
  return (
    <Dialog title={t('confirm.title')} onClose={() => answer(false)} actions={<Button onClick={() => answer(false)}>{t('do.cancel')}</Button>}>
      <p>{t('confirm.text')}</p>
      <Await of={known}>{(w) => <Ways of={w} onDone={() => answer(true)} />}</Await>
    </Dialog>
  );
}

// watch calls done once the session is fresh, which another tab may bring about.
export function watch(done: () => void): () => void {
  const look = () => {
    if (document.visibilityState === 'visible') void ways().then((w) => w.fresh && done(), () => undefined);
  };
  const timer = setInterval(look, pulse);
  document.addEventListener('visibilitychange', look);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
  };
}

export function Ways({ of, onDone }: { of: ConfirmWays; onDone: () => void }) {
  const passkey = of.passkey && passkeysWork;
  return (
    <div class="stack">
      {passkey && <Passkey onDone={onDone} />}
      {of.oidc.map(({ id, name }) => (
        <a key={id} class="button plain wide" target="_blank" rel="noopener" href={`/auth/oidc/${encodeURIComponent(id)}/start${query({ confirm: '1', return: '/ui/confirmed' })}`}>
          {t('confirm.at', { name })}
        </a>
      ))}
      {of.link && <Printed onDone={onDone} />}
      {!passkey && of.oidc.length === 0 && !of.link && <p class="soft">{t('confirm.cannot')}</p>}
    </div>
  );
}

function Passkey({ onDone }: { onDone: () => void }) {
  const act = useAct();
  return (
    <>
      <Button kind="primary" icon="key" wide busy={act.busy} onClick={() => void act.run(() => confirmWithPasskey().then(onDone))}>
        {t('confirm.passkey')}
      </Button>
      <Problem of={act.problem} />
      {act.problem ? <p class="soft">{t('confirm.passkey.where')}</p> : null}
    </>
  );
}

// Printed is for who has nothing else: whoever runs the server hands them a link.
function Printed({ onDone }: { onDone: () => void }) {
  const [there, setThere] = useState(false);
  const act = useAct();
  if (there) return <Paste onDone={onDone} />;
  return (
    <>
      <p class="soft">{t('confirm.print.text')}</p>
      <Button kind="primary" wide busy={act.busy} onClick={() => void act.run(() => post('/auth/confirm/link').then(() => setThere(true)))}>
        {t('confirm.print')}
      </Button>
      <Problem of={act.problem} />
    </>
  );
}

function Paste({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('');
  const act = useAct();
  const take = () => act.run(async () => {
    await post(confirmationOf(text, location.origin));
    onDone();
  });
  return (
    <>
      <p role="status">{t('confirm.printed')}</p>
      <Field label={t('confirm.link')} placeholder={t('signin.link.paste')} value={text} onValue={setText} inputMode="url" autoComplete="off" autoCapitalize="none" spellcheck={false} />
      <Button wide busy={act.busy} disabled={text.trim() === ''} onClick={() => void take()}>
        {t('confirm.action')}
      </Button>
      <Problem of={act.problem} />
    </>
  );
}
