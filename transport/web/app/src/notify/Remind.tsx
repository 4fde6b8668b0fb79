// Being reminded of a message: when, and what of it.

import { useState } from 'preact/hooks';
import { newKey, post } from '../api';
import { Problem } from '../ui/Await';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Choice, Field } from '../ui/Field';
import { toast } from '../ui/Toast';
import { useAct } from '../ui/useAct';
import { monday, tomorrow } from '../screens/settings/times';
import { t } from '../words';

type When = 'hour' | 'tomorrow' | 'monday' | 'other';

interface Props {
  roomId: string;
  msgId: string;
  // what is what for, as far as it was said already.
  what?: string;
  onClose: () => void;
}

export default function Remind({ roomId, msgId, what = '', onClose }: Props) {
  const [when, setWhen] = useState<When>('hour');
  const [day, setDay] = useState('');
  const [note, setNote] = useState(what);
  const act = useAct();
  const time = { hour: () => new Date(Date.now() + 3600_000), tomorrow: () => tomorrow(new Date()), monday: () => monday(new Date()), other: () => new Date(day) }[when];
  const save = async () => {
    const at = time();
    if (Number.isNaN(at.getTime())) return;
    const saved = await act.run(() => post('/api/me/reminders', { room_id: roomId, msg_id: msgId, at: at.toISOString(), ...(note.trim() && { note: note.trim() }) }, { key: newKey() }));
    if (!saved) return;
    toast(t('remind.saved'));
    onClose();
  };
  return (
    <Dialog
      title={t('remind.title')}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={when === 'other' && day === ''}>
            {t('remind.action')}
          </Button>
        </>
      }
    >
      <div class="stack">
        <Choice<When> label={t('remind.when')} value={when} options={(['hour', 'tomorrow', 'monday', 'other'] as const).map((value) => ({ value, label: t(`remind.${value}`) }))} onValue={setWhen} many />
        {when === 'other' && <Field label={t('remind.day')} type="datetime-local" value={day} onValue={setDay} required />}
        <Field label={t('remind.note')} value={note} onValue={setNote} maxLength={500} />
        <Problem of={act.problem} />
      </div>
    </Dialog>
  );
}
