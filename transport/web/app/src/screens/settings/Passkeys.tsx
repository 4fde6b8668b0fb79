import { useState } from 'preact/hooks';
import { at, del } from '../../api';
import { addPasskey } from '../../ceremonies';
import { passkeys, passkeysWork } from '../../passkey';
import { me } from '../../session';
import type { Passkey } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask, Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { LastChance } from '../AddPasskey';
import { deviceName } from './device';
import { rich, t } from '../../words';

// Passkeys are what one signs in with next time: a face, a finger or a key.
export function Passkeys() {
  const list = useLoad(passkeys);
  const [adding, setAdding] = useState(false);
  return (
    <Section
      title={t('passkeys.title')}
      actions={
        passkeysWork && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            {t('do.add')}
          </Button>
        )
      }
    >
      <Await of={list}>
        {({ passkeys: own }) =>
          own.length === 0 ? (
            <None />
          ) : (
            <List label={t('passkeys.title')}>
              {own.map((p) => (
                <Row
                  key={p.id}
                  start={<Icon name="key" />}
                  title={p.name}
                  sub={
                    <>{rich(p.last_used_at ? 'passkeys.used' : 'passkeys.added', { time: <Time at={p.created_at} as="date" />, used: p.last_used_at && <Time at={p.last_used_at} /> })}</>
                  }
                  end={<Button kind="quiet" icon="trash" label={t('passkeys.remove', { name: p.name })} onClick={() => void remove(p, list.reload)} />}
                />
              ))}
            </List>
          )
        }
      </Await>
      {adding && <Add onClose={() => setAdding(false)} onAdded={list.reload} />}
    </Section>
  );
}

function None() {
  if (me.value?.identity.unproven) {
    return (
      <p class="notice">
        <LastChance />
      </p>
    );
  }
  return <p class="soft">{t(passkeysWork ? 'passkeys.none' : 'passkeys.none.browser')}</p>;
}

function Add({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [name, setName] = useState(deviceName);
  const act = useAct();
  const add = async () => {
    const added = await act.run(() => addPasskey(name.trim()));
    if (!added) return;
    toast(t('passkeys.done'));
    onAdded();
    onClose();
  };
  return (
    <Dialog
      title={t('passkeys.add.title')}
      onClose={onClose}
      onSubmit={() => name.trim() && void add()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!name.trim()}>
            {t('do.continue')}
          </Button>
        </>
      }
    >
      <Field label={t('passkeys.add.name')} value={name} onValue={setName} maxLength={128} hint={t('passkeys.add.hint')} />
      <Problem of={act.problem} />
    </Dialog>
  );
}

async function remove(p: Passkey, onDone: () => void) {
  const sure = await ask({ title: t('passkeys.remove.title', { name: p.name }), text: t('passkeys.remove.text'), action: t('passkeys.remove.action'), danger: true });
  if (sure) await del(at`/api/passkeys/${p.id}`).then(onDone, failed);
}
