// Sending credits from a wallet to another: what and where to first, then whether that is right.

import { useMemo, useState } from 'preact/hooks';
import { newKey } from '../../api';
import { go } from '../../router';
import { number } from '../../text';
import type { Container } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Facts } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field, Select } from '../../ui/Field';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import * as api from './api';

// elsewhere stands for a wallet that one isn't a member of: one has to know its address.
const elsewhere = '*';
const form = /^k:[A-Za-z0-9._-]{1,128}$/;

export function Send({ from, onClose, onDone }: { from: Container; onClose: () => void; onDone: () => void }) {
  const known = useLoad(api.wallets);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState('');
  const [address, setAddress] = useState('');
  const [sure, setSure] = useState(false);
  const balance = from.balance ?? 0;
  const amount = api.amountOf(text, balance);
  const others = known.data?.filter((one) => one.container_id !== from.container_id) ?? [];
  const to = chosen === elsewhere ? address.trim() : chosen;
  const key = useMemo(newKey, [amount, to]); // another transfer is another act
  const act = useAct();
  const wrong = chosen === elsewhere && address !== '' && (!form.test(to) || to === from.container_id);
  const ready = amount !== undefined && to !== '' && !wrong;
  const name = others.find((one) => one.container_id === to)?.name ?? to;
  const send = () =>
    act.run(async () => {
      const { receipt } = await api.send(from.container_id, to, amount!, key);
      toast(t('wallets.sent', { n: amount!, name }), { action: { label: t('wallets.receipt'), run: () => go(`/ui/ledger/${receipt.seq}`) } });
      onDone();
      onClose();
    });
  const back = () => {
    act.clear();
    setSure(false);
  };
  if (sure && amount !== undefined) {
    return (
      <Dialog
        title={t('wallets.review')}
        onClose={onClose}
        onSubmit={() => void send()}
        actions={
          <>
            <Button onClick={back}>{t('do.back')}</Button>
            <Button kind="primary" type="submit" busy={act.busy}>
              {t('wallets.send.action', { n: amount })}
            </Button>
          </>
        }
      >
        <Facts
          of={[
            [t('wallets.from'), from.name],
            [t('wallets.target'), name],
            [t('wallets.amount'), number(amount)],
            [t('wallets.left'), number(balance - amount)],
          ]}
        />
        <p class="soft">{t('wallets.review.text')}</p>
        <Problem of={act.problem} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={t('wallets.send')}
      onClose={onClose}
      onSubmit={() => ready && setSure(true)}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={!ready}>
            {t('do.continue')}
          </Button>
        </>
      }
    >
      <Await of={known}>
        {() => (
          <>
            <Field label={t('wallets.amount')} hint={t('wallets.amount.hint', { n: balance })} value={text} onValue={setText} error={text && amount === undefined ? t('wallets.amount.wrong', { most: number(balance) }) : undefined} inputMode="numeric" autocomplete="off" />
            <Select
              label={t('wallets.target')}
              value={chosen}
              options={[{ value: '', label: t('wallets.choose') }, ...others.map((one) => ({ value: one.container_id, label: one.name })), { value: elsewhere, label: t('wallets.elsewhere') }]}
              onValue={setChosen}
            />
            {chosen === elsewhere && <Field label={t('wallets.address')} hint={t('wallets.address.hint')} value={address} onValue={setAddress} error={wrong ? t('wallets.address.wrong') : undefined} autocomplete="off" autoCapitalize="none" spellcheck={false} />}
          </>
        )}
      </Await>
    </Dialog>
  );
}
