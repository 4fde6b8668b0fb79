// Asking a room to vote: a question, two to ten options, and what the vote is like.

import { useState } from 'preact/hooks';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Check, Field, Select } from '../../ui/Field';
import { failed } from '../../ui/Toast';
import { t } from '../../words';
import { create } from './polls';
import type { Talk } from './talk';

const least = 2;
const most = 10;
const longest = 300; // characters of the question, and of an option

const hour = 3600e3;
const spans = { never: 0, hour, day: 24 * hour, week: 7 * 24 * hour };
type Span = keyof typeof spans;

export default function NewPoll({ talk }: { talk: Talk }) {
  const [question, setQuestion] = useState(talk.polling.value ?? '');
  const [options, setOptions] = useState(['', '']);
  const [multiple, setMultiple] = useState(false);
  const [anonymous, setAnonymous] = useState(false);
  const [span, setSpan] = useState<Span>('never');
  const [busy, setBusy] = useState(false);
  const said = options.map((o) => o.trim()).filter(Boolean);
  const twice = new Set(said).size < said.length;
  const ready = question.trim() !== '' && said.length >= least && !twice && !busy;
  const close = () => (talk.polling.value = null);
  const save = () => {
    if (!ready) return;
    setBusy(true);
    const ends = spans[span] > 0 && { ends_at: new Date(Date.now() + spans[span]).toISOString() };
    create(talk.roomId, { question: question.trim(), options: said, multiple, anonymous, ...ends, ...(talk.thread && { thread: talk.thread }) }).then(close, (problem: unknown) => {
      setBusy(false);
      failed(problem);
    });
  };
  // There is always an empty field for one more option.
  const set = (i: number, value: string) => {
    const next = options.map((o, j) => (j === i ? value : o));
    setOptions(next.length < most && next.every((o) => o.trim() !== '') ? [...next, ''] : next);
  };
  return (
    <Dialog
      title={t('poll.new')}
      onClose={close}
      onSubmit={save}
      actions={
        <Button type="submit" kind="primary" disabled={!ready}>
          {t('poll.create')}
        </Button>
      }
    >
      <Field label={t('poll.question')} value={question} onValue={setQuestion} maxLength={longest} required />
      {options.map((option, i) => (
        <Field key={i} label={t('poll.option', { n: i + 1 })} value={option} onValue={(value) => set(i, value)} maxLength={longest} error={twice && i === options.length - 1 ? t('poll.twice') : undefined} />
      ))}
      <Check label={t('poll.several.may')} checked={multiple} onValue={setMultiple} />
      <Check label={t('poll.secret')} hint={t('poll.secret.hint')} checked={anonymous} onValue={setAnonymous} />
      <Select label={t('poll.until')} value={span} onValue={setSpan} options={(Object.keys(spans) as Span[]).map((value) => ({ value, label: t(`poll.until.${value}`) }))} />
    </Dialog>
  );
}
