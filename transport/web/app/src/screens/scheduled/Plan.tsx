// Choosing when a message is sent: for a new one, and for one whose time changes.

import { useState } from 'preact/hooks';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Choice, Field, Select } from '../../ui/Field';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import { monday, mondayIsTomorrow, tomorrow } from '../settings/times';
import type { Plan } from './api';
import { local, repeatOf, repeats, ruleOf, said, zone, type Repeat } from './when';

type When = 'tomorrow' | 'monday' | 'other';

interface Props {
  title: string;
  action: string;
  // was is what is changed, absent for a new message.
  was?: { at: string; rule?: string; text: string };
  onSave: (plan: Plan, text: string) => Promise<unknown>;
  onClose: () => void;
}

export function PlanDialog({ title, action, was, onSave, onClose }: Props) {
  const now = new Date();
  const [when, setWhen] = useState<When>(was ? 'other' : 'tomorrow');
  const [time, setTime] = useState(was ? local(new Date(was.at)) : '');
  const [repeat, setRepeat] = useState<Repeat>(repeatOf(was?.rule));
  const [text, setText] = useState(was?.text ?? '');
  const [tried, setTried] = useState(false);
  const act = useAct();
  const at = { tomorrow: local(tomorrow(now)), monday: local(monday(now)), other: time }[when];
  const wrong = at === '' ? t('scheduled.when.missing') : new Date(at) <= now ? t('scheduled.when.over') : '';
  const save = async () => {
    setTried(true);
    if (wrong || (was && text.trim() === '')) return;
    if (await act.run(() => onSave({ at, zone: zone(), rule: ruleOf(repeat, was?.rule) }, text.trim()))) onClose();
  };
  const options: { value: When; label: string }[] = [
    { value: 'tomorrow', label: said(tomorrow(now).toISOString(), now) },
    ...(mondayIsTomorrow(now) ? [] : [{ value: 'monday' as const, label: said(monday(now).toISOString(), now) }]),
    { value: 'other', label: t('remind.other') },
  ];
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy}>
            {action}
          </Button>
        </>
      }
    >
      <div class="stack">
        {was && <Field label={t('scheduled.text')} value={text} onValue={setText} lines={4} required maxLength={8000} />}
        <Choice<When> label={t('remind.when')} value={when} options={options} onValue={setWhen} many />
        {when === 'other' && (
          <Field label={t('remind.day')} type="datetime-local" value={time} onValue={setTime} error={tried ? wrong : ''} min={local(now)} required />
        )}
        <Select<Repeat>
          label={t('scheduled.repeat')}
          hint={t('scheduled.zone', { zone: zone() })}
          value={repeat}
          options={[...repeats, ...(repeat === 'other' ? (['other'] as const) : [])].map((value) => ({ value, label: t(`scheduled.repeat.${value}`) }))}
          onValue={setRepeat}
        />
        <Problem of={act.problem} />
      </div>
    </Dialog>
  );
}
