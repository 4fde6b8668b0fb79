import { useMemo, useState } from 'preact/hooks';
import { ApiError, newKey } from '../../api';
import { go } from '../../router';
import { said } from '../../said';
import { number } from '../../text';
import { Await } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Screen } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import * as api from './api';

// Wallets are those that one is a member of, with what is in them.
export default function Wallets() {
  const list = useLoad(api.wallets);
  const [making, setMaking] = useState(false);
  const begin = () => setMaking(true);
  return (
    <Screen title={t('wallets.title')} above="/ui/settings" actions={<Button kind="quiet" icon="plus" label={t('wallets.new')} onClick={begin} />}>
      <Await of={list}>
        {(wallets) =>
          wallets.length === 0 ? (
            <Empty icon="wallet" title={t('wallets.none')}>
              <p>{t('wallets.none.hint')}</p>
              <Button kind="primary" icon="plus" onClick={begin}>
                {t('wallets.new')}
              </Button>
            </Empty>
          ) : (
            <List label={t('wallets.title')}>
              {wallets.map((one) => (
                <Row
                  key={one.container_id}
                  to={`/ui/settings/wallets/${one.container_id}`}
                  start={<Icon name="wallet" />}
                  title={one.name}
                  sub={t('wallets.credits', { n: one.balance ?? 0 })}
                  meta={one.in_transit ? t('wallets.transit.short', { n: number(one.in_transit) }) : undefined}
                />
              ))}
            </List>
          )
        }
      </Await>
      {making && <NewWallet onClose={() => setMaking(false)} />}
    </Screen>
  );
}

function NewWallet({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const key = useMemo(newKey, [name]); // another wallet is another act
  const act = useAct();
  const taken = act.problem instanceof ApiError && act.problem.code === 'conflict';
  const make = () =>
    act.run(async () => {
      const { container } = await api.make(name.trim(), key);
      onClose();
      go(`/ui/settings/wallets/${container.container_id}`);
    });
  return (
    <Dialog
      title={t('wallets.new')}
      onClose={onClose}
      onSubmit={() => name.trim() && void make()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!name.trim()}>
            {t('wallets.make')}
          </Button>
        </>
      }
    >
      <Field
        label={t('wallets.name')}
        hint={t('wallets.new.hint')}
        value={name}
        onValue={(value) => {
          setName(value);
          act.clear();
        }}
        error={act.problem ? (taken ? t('wallets.taken') : said(act.problem)) : undefined}
        maxLength={128}
        autocomplete="off"
      />
    </Dialog>
  );
}
