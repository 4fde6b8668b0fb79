import { useState } from 'preact/hooks';
import { at } from '../../api';
import { go, type ScreenProps } from '../../router';
import { isOwner } from '../../session';
import { number } from '../../text';
import { Await } from '../../ui/Await';
import { Secret } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Screen, Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import { Way } from '../agreement/Way';
import { inside } from '../members/api';
import { Inside, Leave } from '../members/Inside';
import { myself, type Of } from '../members/of';
import '../budget/budget.css';
import { History } from './History';
import { Issue } from './Issue';
import { Send } from './Send';

// Wallet is what a wallet holds and what happened to it. Its owners send from it.
export default function Wallet({ params: { id = '' } }: ScreenProps) {
  const loaded = useLoad((signal) => inside(id, signal), [id]);
  const [open, setOpen] = useState<'send' | 'issue' | null>(null);
  const close = () => setOpen(null);
  return (
    <Screen title={loaded.data?.container.name ?? t('wallets.one')} above="/ui/settings/wallets">
      <Await of={loaded}>
        {({ container, members }) => {
          const of: Of = { what: 'wallet', name: container.name, url: at`/api/containers/${id}` };
          const owns = myself(members)?.role === 'owner';
          const { balance = 0, in_transit: away = 0 } = container;
          return (
            <>
              <Section title={t('wallets.balance')}>
                <div class="stack">
                  <div>
                    <p class="amount">{number(balance)}</p>
                    <p class="soft">{t('wallets.unit', { n: balance })}</p>
                  </div>
                  {away > 0 && <p class="notice">{t('wallets.transit', { n: away })}</p>}
                  {!owns && <p class="soft">{t('wallets.owners')}</p>}
                  <div class="line">
                    {owns && (
                      <Button kind="primary" icon="send" disabled={balance === 0} title={balance === 0 ? t('wallets.empty') : undefined} onClick={() => setOpen('send')}>
                        {t('wallets.send')}
                      </Button>
                    )}
                    {isOwner.value && (
                      <Button icon="plus" onClick={() => setOpen('issue')}>
                        {t('wallets.issue')}
                      </Button>
                    )}
                  </div>
                </div>
              </Section>
              <History of={id} onNews={loaded.reload} />
              <Section title={t('wallets.address')}>
                <p class="soft">{t('wallets.address.for')}</p>
                <Secret label={t('wallets.address')} text={id} />
              </Section>
              <Inside of={of} members={members} onChanged={loaded.reload} />
              {container.agreement_id && <Way to={container.agreement_id} />}
              {myself(members) && <Leave of={of} back={t('wallets.leave')} onLeft={() => go('/ui/settings/wallets', { replace: true })} />}
              {open === 'send' && <Send from={container} onClose={close} onDone={loaded.reload} />}
              {open === 'issue' && <Issue to={container} onClose={close} onDone={loaded.reload} />}
            </>
          );
        }}
      </Await>
    </Screen>
  );
}
