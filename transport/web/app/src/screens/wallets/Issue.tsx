import { useMemo, useState } from 'preact/hooks';
import { newKey } from '../../api';
import { go } from '../../router';
import { number } from '../../text';
import type { Container } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import * as api from './api';

// Issue makes credits, which owners of the organisation alone do.
export function Issue({ to, onClose, onDone }: { to: Container; onClose: () => void; onDone: () => void }) {
  const [text, setText] = useState('');
  const key = useMemo(newKey, [text]);
  const act = useAct();
  const most = api.most - (to.balance ?? 0);
  const amount = api.amountOf(text, most);
  const make = async (n: number) => {
    await act.run(async () => {
      const { receipt } = await api.issue(to.container_id, n, key);
      toast(t('wallets.issued', { n }), { action: { label: t('wallets.receipt'), run: () => go(`/ui/ledger/${receipt.seq}`) } });
      onDone();
      onClose();
    });
  };
  return (
    <Dialog
      title={t('wallets.issue')}
      onClose={onClose}
      onSubmit={() => amount && void make(amount)}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!amount}>
            {t('wallets.issue.action')}
          </Button>
        </>
      }
    >
      <Field label={t('wallets.amount')} hint={t('wallets.issue.hint')} value={text} onValue={setText} error={text && !amount ? t('wallets.amount.wrong', { most: number(most) }) : undefined} inputMode="numeric" autocomplete="off" />
      <Problem of={act.problem} />
    </Dialog>
  );
}
