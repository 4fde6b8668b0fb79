// Forwarding a message: into a room that one is in, or to a person. The server copies what the
// message says, so nobody can forward what nobody wrote.

import { useRef, useState } from 'preact/hooks';
import { at, newKey, post } from '../../api';
import { store } from '../../store';
import type { Message, RoomSummary } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import { Picker, people, rooms, type Pick } from '../rooms/Picker';
import '../search/search.css';

export default function Forward({ message, onClose }: { message: Message; onClose: () => void }) {
  const keys = useRef(new Map<string, string>()); // however often one is tried, it is forwarded once
  const [to, setTo] = useState<Pick | null>(null);
  const [comment, setComment] = useState('');
  const act = useAct();
  const choices = [...rooms(), ...people({ others: true })];
  const send = async () => {
    if (!to) return;
    const text = comment.trim();
    const key = keys.current.get(to.id + text) ?? newKey();
    keys.current.set(to.id + text, key);
    if (!(await act.run(() => forward(message, to.id, text, key)))) return;
    toast(t('forward.done', { name: to.name }));
    onClose();
  };
  return (
    <Dialog
      title={t('forward.title')}
      onClose={onClose}
      onSubmit={() => void send()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!to}>
            {t('forward.action')}
          </Button>
        </>
      }
    >
      <div class="stack">
        {to ? (
          <div class="chips" role="group" aria-label={t('newmessage.to')}>
            <button type="button" class="chip on" aria-label={t('newmessage.without', { name: to.name })} onClick={() => setTo(null)}>
              <bdi>{to.name}</bdi> <Icon name="close" size={16} />
            </button>
          </div>
        ) : (
          <Picker label={t('forward.to')} of={choices} onPick={(id) => setTo(choices.find((one) => one.id === id) ?? null)} />
        )}
        <Field label={t('forward.comment')} value={comment} onValue={setComment} maxLength={2000} />
        <Problem of={act.problem} />
      </div>
    </Dialog>
  );
}

async function forward({ room_id, msg_id }: Message, to: string, text: string, key: string): Promise<void> {
  const room = to.startsWith('u:') ? await direct(to) : to;
  const body = { type: 'text', body: { text }, forward: `${room_id}/${msg_id}` };
  await post(at`/api/rooms/${room}/messages`, body, { key });
}

// direct are the messages with somebody, which are opened where there are none yet.
async function direct(user: string): Promise<string> {
  const { room } = await post<{ room: RoomSummary }>('/api/dms', { with: [user] }, { key: newKey() });
  void store.value?.refresh();
  return room.room_id;
}
