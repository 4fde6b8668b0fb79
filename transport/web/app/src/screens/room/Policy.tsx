// A room's rules: who may come in, who writes, how long messages are kept, how long they may be.

import { useState } from 'preact/hooks';
import { at, patch } from '../../api';
import { bytes } from '../../text';
import type { Room, RoomPolicy } from '../../types';
import { Facts } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Choice, Field } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import { joinRules, postingRules, type Posting } from './rules';

type Rules = Omit<RoomPolicy, 'posting'> & { posting: Posting };

interface Props {
  room: Room;
  owner: boolean;
  onChanged: () => void;
}

export function Policy({ room, owner, onChanged }: Props) {
  if (owner) return <Form key={JSON.stringify(room.policy)} room={room} onChanged={onChanged} />;
  const { join, posting = 'everyone', retention_days: days, max_message_bytes: most } = room.policy;
  return (
    <Section title={t('policy.title')}>
      <Facts
        of={[
          [t('newroom.who'), joinRules().find((rule) => rule.value === join)?.label ?? join],
          [t('policy.posting'), postingRules().find((rule) => rule.value === posting)?.label ?? posting],
          [t('policy.kept'), t('policy.kept.for', { n: days })],
          [t('policy.longest'), bytes(most)],
          [t('settings.you.id'), room.room_id],
        ]}
      />
    </Section>
  );
}

function Form({ room, onChanged }: Omit<Props, 'owner'>) {
  const policy: Rules = { ...room.policy, posting: room.policy.posting ?? 'everyone' };
  const [join, setJoin] = useState(policy.join);
  const [posting, setPosting] = useState(policy.posting);
  const [days, setDays] = useState(String(policy.retention_days));
  const [most, setMost] = useState(String(policy.max_message_bytes));
  const [busy, setBusy] = useState(false);
  const wrong = { days: whole(days, 0, 36_500), most: whole(most, 1, 8000) };
  const next: Rules = { join, posting, retention_days: Number(days), max_message_bytes: Number(most) };
  const changed = changes(policy, next);
  const save = async () => {
    if (wrong.days || wrong.most || !changed) return;
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
        <Field label={t('policy.days')} hint={t('policy.days.hint')} value={days} onValue={setDays} error={wrong.days} inputMode="numeric" />
        <Field label={t('policy.bytes')} hint={t('policy.bytes.hint', { n: 8000 })} value={most} onValue={setMost} error={wrong.most} inputMode="numeric" />
        <Button kind="primary" type="submit" busy={busy} disabled={!changed}>
          {t('policy.save')}
        </Button>
      </form>
    </Section>
  );
}

// whole says what is wrong with a number, "" when nothing is.
function whole(text: string, low: number, high: number): string {
  const n = Number(text);
  if (/^\d+$/.test(text.trim()) && n >= low && n <= high) return '';
  return t('policy.whole', { low, high });
}

// changes are the members that differ, null for none.
function changes(old: Rules, next: Rules): Partial<Rules> | null {
  const names = (Object.keys(next) as (keyof Rules)[]).filter((name) => next[name] !== old[name]);
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, next[name]])) : null;
}
