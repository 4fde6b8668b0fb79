// Making a room, which one then owns.

import { useRef, useState } from 'preact/hooks';
import { ApiError, at, newKey, patch, post } from '../api';
import { said } from '../said';
import { go } from '../router';
import { store } from '../store';
import type { RoomPolicy, RoomSummary } from '../types';
import { Button } from '../ui/Button';
import { Choice, Field } from '../ui/Field';
import { Screen } from '../ui/Screen';
import { failed } from '../ui/Toast';
import { joinRules } from './room/rules';
import { t } from '../words';

export default function NewRoom() {
  const [name, setName] = useState('');
  const [join, setJoin] = useState<RoomPolicy['join']>('invite');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  const field = useRef<HTMLInputElement>(null);
  const rename = (value: string) => {
    setName(value);
    setError('');
    key.current = newKey();
  };
  const make = async () => {
    const wrong = name.trim() === '' ? t('newroom.needsname') : '';
    setError(wrong);
    if (wrong) return field.current?.focus();
    setBusy(true);
    try {
      go(`/ui/rooms/${await found(name.trim(), join, key.current)}`, { replace: true });
    } catch (problem) {
      setBusy(false);
      setError(problem instanceof ApiError && problem.code === 'conflict' ? t('newroom.taken') : said(problem));
      field.current?.focus();
    }
  };
  return (
    <Screen title={t('newroom.title')} above="/ui/">
      <section class="section">
        <form
          class="stack"
          noValidate
          onSubmit={(e) => {
            e.preventDefault();
            void make();
          }}
        >
          <Field label={t('newroom.name')} value={name} onValue={rename} error={error} input={field} maxLength={128} autoComplete="off" required />
          <Choice label={t('newroom.who')} value={join} options={joinRules()} onValue={setJoin} />
          <p class="hint">{t('newroom.note')}</p>
          <Button kind="primary" type="submit" busy={busy}>
            {t('newroom.action')}
          </Button>
        </form>
      </section>
    </Screen>
  );
}

// found makes the room and gives it its rule, and waits until it is in the list.
async function found(name: string, join: RoomPolicy['join'], key: string): Promise<string> {
  const { room } = await post<{ room: RoomSummary }>('/api/rooms', { name }, { key });
  if (join !== 'invite') await patch(at`/api/rooms/${room.room_id}/policy`, { join }).catch(failed);
  await store.value?.refresh();
  return room.room_id;
}
