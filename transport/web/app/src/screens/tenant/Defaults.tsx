// What rooms begin with that are made from now on, for owners of the organisation.

import { useState } from 'preact/hooks';
import { get, newKey, patch } from '../../api';
import { Link } from '../../router';
import { isOwner, me } from '../../session';
import type { Tenant } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Field, Select } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import { whole } from '../room/Policy';
import { spanOf } from '../room/span';

type Answer = { tenant: Tenant };

// spans are the times that one chooses among, in days; 0 has messages stay.
const spans = [0, 7, 30, 90, 365];
const other = 'other';

export default function Defaults() {
  return (
    <Screen title={t('defaults.title')} above="/ui/settings">
      {isOwner.value ? (
        <Rules />
      ) : (
        <Empty icon="lock" title={t('defaults.owners')}>
          <p>{t('defaults.owners.hint')}</p>
        </Empty>
      )}
    </Screen>
  );
}

function Rules() {
  const loaded = useLoad<Answer>((signal) => get<Answer>('/api/tenant', { signal }));
  return (
    <>
      <Await of={loaded}>{({ tenant }) => <Form key={JSON.stringify(tenant.defaults)} of={tenant.defaults} onSaved={loaded.set} />}</Await>
      <Section title={t('defaults.elsewhere')}>
        <div class="stack">
          <p>
            {t('defaults.invite')} <Link to={`/ui/agreements/a:tenant:${me.value?.tenant_id}`}>{t('defaults.invite.to')}</Link>
          </p>
          <p>
            {t('defaults.domains')} <Link to="/ui/tenant">{t('defaults.domains.to')}</Link>
          </p>
          <p>
            {t('defaults.budget')} <Link to="/ui/budget">{t('defaults.budget.to')}</Link>
          </p>
        </div>
      </Section>
    </>
  );
}

function Form({ of, onSaved }: { of: Tenant['defaults']; onSaved: (answer: Answer) => void }) {
  const [span, setSpan] = useState(spans.includes(of.retention_days) ? String(of.retention_days) : other);
  const [days, setDays] = useState(String(of.retention_days));
  const [most, setMost] = useState(String(of.max_message_bytes));
  const act = useAct();
  const kept = span === other ? days : span;
  const wrong = { days: span === other ? whole(days, 0, 36_500) : '', most: whole(most, 1, 8000) };
  const changed = { ...(Number(kept) !== of.retention_days && { retention_days: Number(kept) }), ...(Number(most) !== of.max_message_bytes && { max_message_bytes: Number(most) }) };
  const ready = !wrong.days && !wrong.most && Object.keys(changed).length > 0;
  const save = () =>
    act.run(async () => {
      onSaved(await patch<Answer>('/api/tenant/defaults', changed, { key: newKey() }));
      toast(t('defaults.saved'));
    });
  return (
    <Section title={t('defaults.rooms')}>
      <form
        class="stack narrow"
        noValidate
        onSubmit={(e) => {
          e.preventDefault();
          if (ready) void save();
        }}
      >
        <p class="soft">{t('defaults.text')}</p>
        <Select
          label={t('policy.disappear')}
          hint={t('policy.disappear.hint')}
          value={span}
          options={[...spans.map((n) => ({ value: String(n), label: n > 0 ? t('policy.after', { span: spanOf(n * 24) }) : t('policy.off') })), { value: other, label: t('policy.other') }]}
          onValue={setSpan}
        />
        {span === other && <Field label={t('policy.days')} value={days} onValue={setDays} error={wrong.days} inputMode="numeric" />}
        <Field label={t('policy.bytes')} hint={t('policy.bytes.hint', { n: 8000 })} value={most} onValue={setMost} error={wrong.most} inputMode="numeric" />
        <Problem of={act.problem} />
        <div class="line">
          <Button kind="primary" type="submit" busy={act.busy} disabled={!ready}>
            {t('policy.save')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
