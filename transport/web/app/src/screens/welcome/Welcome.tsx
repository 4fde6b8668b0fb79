// The first minutes: what to call somebody, and how they sign in next time. Either can be
// left out.

import './welcome.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { addPasskey } from '../../ceremonies';
import { passkeys, passkeysWork } from '../../passkey';
import { check, me, ways } from '../../session';
import { store } from '../../store';
import { oneLine } from '../../text';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { screen } from '../../ui/title';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import { rename } from '../members/api';
import { deviceName } from '../settings/device';
import { finish } from './state';

export default function Welcome() {
  const [step, setStep] = useState<'name' | 'passkey'>('name');
  const [passkey, setPasskey] = useState(false); // one can be made, and there is none
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => void lacksPasskey().then(setPasskey, () => undefined), []);
  useEffect(() => {
    screen.value = 'UBL';
    if (step === 'passkey') title.current?.focus();
  }, [step]);
  const named = () => (passkey ? setStep('passkey') : finish(true));
  return (
    <main class="entrance welcome" data-current="true">
      <img src="/ui/icon.svg" alt="" width="56" height="56" />
      <p class="soft small step">{passkey && t('welcome.step', { n: step === 'name' ? 1 : 2, of: 2 })}</p>
      <h1 ref={title} tabIndex={-1}>
        {t(step === 'name' ? 'welcome.name.title' : 'welcome.passkey.title')}
      </h1>
      {step === 'name' ? <Name onDone={named} /> : <Passkey />}
    </main>
  );
}

async function lacksPasskey(): Promise<boolean> {
  if (!passkeysWork || !(await ways()).passkeys) return false;
  return (await passkeys()).passkeys.length === 0;
}

function Name({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const act = useAct();
  useEffect(() => field.current?.focus(), []);
  const save = async () => {
    const done = await act.run(async () => {
      await rename(me.peek()!.identity.user_id, oneLine(name));
      await Promise.all([store.peek()?.people.refresh(), check()]);
    });
    if (done) onDone();
  };
  return (
    <form
      class="ways"
      onSubmit={(e) => {
        e.preventDefault();
        if (oneLine(name)) void save();
      }}
    >
      <Field label={t('welcome.name')} value={name} onValue={setName} hint={t('welcome.name.hint')} input={field} maxLength={64} autocomplete="name" />
      <Problem of={act.problem} />
      <Button kind="primary" type="submit" wide busy={act.busy} disabled={!oneLine(name)}>
        {t('do.continue')}
      </Button>
      <Button kind="quiet" wide onClick={() => finish(false)}>
        {t('do.skip')}
      </Button>
    </form>
  );
}

function Passkey() {
  const act = useAct();
  const add = async () => {
    if (await act.run(() => addPasskey(deviceName()))) finish(true);
  };
  return (
    <div class="ways">
      <p class="soft">{t('welcome.passkey.text')}</p>
      <Button kind="primary" icon="key" wide busy={act.busy} onClick={() => void add()}>
        {t('welcome.passkey.action')}
      </Button>
      <Problem of={act.problem} />
      <Button kind="quiet" wide onClick={() => finish(true)}>
        {t('welcome.passkey.later')}
      </Button>
    </div>
  );
}
