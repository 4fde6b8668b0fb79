// A room's rules: who may come in, who writes, how long messages are kept, how long they may be.

import { useState } from 'preact/hooks';
import { at, patch } from '../../api';
import { bytes } from '../../text';
import type { Room, RoomPolicy } from '../../types';
import { Facts } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Choice, Field, Select } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import { joinRules, postingRules, type Posting } from './rules';
import { hoursOf, spanOf } from './span';

type Rules = Required<Omit<RoomPolicy, 'posting'>> & { posting: Posting };

// spans are the times that one chooses among, in hours; 0 has messages stay.
const spans = [0, 1, 8, 24, 7 * 24, 30 * 24, 90 * 24];
const other = 'other';

interface Props {
  room: Room;
  owner: boolean;
  onChanged: () => void;
}

export function Policy({ room, owner, onChanged }: Props) {
  if (owner) return <Form key={JSON.stringify(room.policy)} room={room} onChanged={onChanged} />;
  const { join, posting = 'everyone', max_message_bytes: most } = room.policy;
  const hours = hoursOf(room.policy);
  return (
    <Section title={t('policy.title')}>
      <Facts
        of={[
          [t('newroom.who'), joinRules().find((rule) => rule.value === join)?.label ?? join],
          [t('policy.posting'), postingRules().find((rule) => rule.value === posting)?.label ?? posting],
          [t('policy.disappear'), hours > 0 ? t('policy.after', { span: spanOf(hours) }) : t('policy.off')],
          [t('policy.longest'), bytes(most)],
          [t('settings.you.id'), room.room_id],
        ]}
      />
    </Section>
  );
}

function Form({ room, onChanged }: Omit<Props, 'owner'>) {
  const policy: Rules = { ...room.policy, posting: room.policy.posting ?? 'everyone', retention_hours: room.policy.retention_hours ?? 0 };
  const [join, setJoin] = useState(policy.join);
  const [posting, setPosting] = useState(policy.posting);
  const [span, setSpan] = useState(spans.includes(hoursOf(policy)) ? String(hoursOf(policy)) : other);
  const [days, setDays] = useState(String(policy.retention_days));
  const [hours, setHours] = useState(String(policy.retention_hours));
  const [most, setMost] = useState(String(policy.max_message_bytes));
  const [busy, setBusy] = useState(false);
  const free = span === other;
  const wrong = { days: free ? whole(days, 0, 36_500) : '', hours: free ? whole(hours, 0, 23) : '', most: whole(most, 1, 8000) };
  const kept = free ? { retention_days: Number(days), retention_hours: Number(hours) } : { retention_days: Math.floor(Number(span) / 24), retention_hours: Number(span) % 24 };
  const next: Rules = { join, posting, ...kept, max_message_bytes: Number(most) };
  const changed = changes(policy, next);
  const save = async () => {
    if (wrong.days || wrong.hours || wrong.most || !changed) return;
    setBusy(true);
    try {
      await patch(at`/api/rooms/${room.room_id}/policy`, changed);
      toast(t('policy.saved'));
      onChanged();
    } catch (problem) {
      failed(problem);
    }
    setBusy(false);
  };
  return (
    <Section title={t('policy.title')}>
      <form
        class="stack"
        noValidate
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        <Choice label={t('newroom.who')} value={join} options={joinRules()} onValue={setJoin} />
        <Choice label={t('policy.posting')} value={posting} options={postingRules()} onValue={setPosting} />
        <Select label={t('policy.disappear')} hint={t('policy.disappear.hint')} value={span} options={spanOptions()} onValue={setSpan} />
        {free && <Field label={t('policy.days')} value={days} onValue={setDays} error={wrong.days} inputMode="numeric" />}
        {free && <Field label={t('policy.hours')} value={hours} onValue={setHours} error={wrong.hours} inputMode="numeric" />}
        <Field label={t('policy.bytes')} hint={t('policy.bytes.hint', { n: 8000 })} value={most} onValue={setMost} error={wrong.most} inputMode="numeric" />
        <Button kind="primary" type="submit" busy={busy} disabled={!changed}>
          {t('policy.save')}
        </Button>
      </form>
    </Section>
  );
}

const spanOptions = () => [
  ...spans.map((hours) => ({ value: String(hours), label: hours > 0 ? t('policy.after', { span: spanOf(hours) }) : t('policy.off') })),
  { value: other, label: t('policy.other') },
];

// whole says what is wrong with a number, "" when nothing is.
export function whole(text: string, low: number, high: number): string {
  const n = Number(text);
  if (/^\d+$/.test(text.trim()) && n >= low && n <= high) return '';
  return t('policy.whole', { low, high });
}

// changes are the members that differ, null for none. Days and hours go together.
function changes(old: Rules, next: Rules): Partial<Rules> | null {
  const kept = hoursOf(next) !== hoursOf(old);
  const names = (Object.keys(next) as (keyof Rules)[]).filter((name) => (name.startsWith('retention_') ? kept : next[name] !== old[name]));
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, next[name]])) : null;
}
