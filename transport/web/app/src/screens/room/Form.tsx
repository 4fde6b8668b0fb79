// A form in its message: what is said, buttons or fields, one's own answer, and who has answered.

import './Form.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Form as FormOf, FormAnswer, FormField, FormValues, Message } from '../../types';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Check, Choice, Field, Select } from '../../ui/Field';
import { failed } from '../../ui/Toast';
import { t } from '../../words';
import { answer, isButtons, lacks, nobody, saidIn, standingOf, valuesIn, type Standing } from './forms';
import type { Talk } from './talk';
import { whoIs } from './who';

// soon is how long answers are gathered before the form is read again, in ms.
const soon = 300;

export default function Form({ message, talk }: { message: Message; talk: Talk }) {
  const form = message.form!;
  const [{ state, answers }, reload] = useStanding(message);
  const [filling, setFilling] = useState(false); // anew, over one's answer
  const [busy, setBusy] = useState(false);
  const { mine } = state;
  const me = talk.store.who.user_id;
  const closed = form.ends_at !== undefined && Date.parse(form.ends_at) <= Date.now();
  const asked = !form.answerers || form.answerers.includes(me);
  const may = asked && !closed && talk.rights.value.act && !(form.once && mine);
  const send = (values: FormValues) => {
    setBusy(true);
    answer(message, values)
      .then(reload)
      .then(() => setFilling(false))
      .catch(failed)
      .finally(() => setBusy(false));
  };
  return (
    <div class="form">
      <p class="question" dir="auto">
        {form.text}
      </p>
      {form.private && <p class="small soft">{t('form.private')}</p>}
      {isButtons(form) ? (
        <Buttons field={form.fields[0]!} pressed={mine?.values[form.fields[0]!.name] as string | undefined} disabled={!may || busy} onPress={(option) => send({ [form.fields[0]!.name]: option })} />
      ) : mine && !filling ? (
        <Given form={form} values={mine.values} />
      ) : (
        may && <Fill form={form} values={mine?.values ?? {}} busy={busy} onSend={send} />
      )}
      {mine && <p class="small soft">{t('form.mine')}</p>}
      {mine && may && !filling && !isButtons(form) && (
        <Button kind="quiet" onClick={() => setFilling(true)}>
          {t('form.change')}
        </Button>
      )}
      <p class="small soft">
        {t('form.answers', { n: state.answered })}
        {(closed || form.ends_at) && ' · '}
        {closed ? t('poll.ended') : form.ends_at && t('poll.ends')} {!closed && form.ends_at && <Time at={form.ends_at} as="full" />}
        {!asked && ` · ${t('form.others', { names: form.answerers!.map((id) => whoIs(id).name).join(', ') })}`}
      </p>
      {state.answered > 0 && <Answers form={form} answers={answers} by={state.by} onOpen={() => void reload().catch(failed)} />}
    </div>
  );
}

interface ButtonsProps {
  field: FormField;
  pressed?: string;
  disabled: boolean;
  onPress: (option: string) => void;
}

function Buttons({ field, pressed, disabled, onPress }: ButtonsProps) {
  return (
    <div class="buttons" role="group" aria-label={field.label}>
      {field.options!.map((option) => (
        <Button key={option} aria-pressed={option === pressed} disabled={disabled} onClick={() => onPress(option)}>
          {option}
        </Button>
      ))}
    </div>
  );
}

function Given({ form, values }: { form: FormOf; values: FormValues }) {
  return (
    <dl>
      {form.fields.map((field) => values[field.name] !== undefined && (
        <div key={field.name}>
          <dt dir="auto">{field.label}</dt>
          <dd dir="auto">{saidIn(field, values[field.name]!)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Fill({ form, values, busy, onSend }: { form: FormOf; values: FormValues; busy: boolean; onSend: (values: FormValues) => void }) {
  const [filled, setFilled] = useState<FormValues>({ ...Object.fromEntries(form.fields.filter(({ type, required }) => type === 'yes_no' && required).map(({ name }) => [name, false])), ...values });
  const [tried, setTried] = useState(false);
  return (
    <form
      noValidate
      onSubmit={(e) => {
        e.preventDefault();
        setTried(true);
        if (form.fields.every((field) => !lacks(field, filled))) onSend(valuesIn(form, filled));
      }}
    >
      {form.fields.map((field) => (
        <Input key={field.name} field={field} value={filled[field.name]} error={tried ? lacks(field, filled) : undefined} onValue={(value) => setFilled({ ...filled, [field.name]: value })} />
      ))}
      <Button type="submit" kind="primary" disabled={busy}>
        {t('form.send')}
      </Button>
    </form>
  );
}

interface InputProps {
  field: FormField;
  value: FormValues[string] | undefined;
  error?: string;
  onValue: (value: FormValues[string]) => void;
}

function Input({ field, value, error, onValue }: InputProps) {
  const { label, options = [], required, type } = field;
  const text = value === undefined ? '' : String(value);
  switch (type) {
    case 'yes_no':
      return <Check label={label} checked={value === true} onValue={onValue} />;
    case 'button':
      return <Choice label={label} hint={error} value={text} options={options.map((option) => ({ value: option, label: option }))} onValue={onValue} many />;
    case 'one':
      return <Select label={label} hint={error} value={text} options={['', ...options].map((option) => ({ value: option, label: option || t('form.none') }))} onValue={onValue} />;
    case 'several': {
      const list = Array.isArray(value) ? value : [];
      return (
        <fieldset class="several">
          <legend>{label}</legend>
          {options.map((option) => (
            <Check key={option} label={option} checked={list.includes(option)} onValue={(yes) => onValue(options.filter((o) => (o === option ? yes : list.includes(o))))} />
          ))}
          {error && <p class="error">{error}</p>}
        </fieldset>
      );
    }
    case 'text':
      return <Field label={label} value={text} onValue={onValue} error={error} required={required} lines={3} maxLength={field.max ?? 4000} />;
    case 'line':
      return <Field label={label} value={text} onValue={onValue} error={error} required={required} maxLength={field.max ?? 300} />;
  }
  const bounds = type === 'date' ? { min: field.from, max: field.until } : { min: field.min, max: field.max, step: 'any' };
  return <Field label={label} value={text} onValue={onValue} error={error} required={required} type={type} {...bounds} />;
}

// Answers are who has answered, and what, as far as one may see it.
function Answers({ form, answers, by, onOpen }: { form: FormOf; answers: FormAnswer[]; by: string[]; onOpen: () => void }) {
  const given = new Map(answers.map((one) => [one.author_id, one]));
  return (
    <details class="small" onToggle={(e) => e.currentTarget.open && onOpen()}>
      <summary>{t('form.who')}</summary>
      <ul>
        {by.map((id) => (
          <li key={id}>
            <bdi>{whoIs(id).name}</bdi>
            {given.has(id) && <Given form={form} values={given.get(id)!.values} />}
          </li>
        ))}
      </ul>
    </details>
  );
}

// useStanding is how a form stands: as its message came, and read anew since somebody answered.
function useStanding(message: Message): [Standing, () => Promise<void>] {
  const [read, setRead] = useState<Standing>();
  const latest = useRef(message);
  latest.current = message;
  const gone = useRef(new AbortController());
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null);
  const reload = () => standingOf(latest.current, gone.current.signal).then(setRead);
  useEffect(() => {
    if (!message.answeredAt || waiting.current) return;
    waiting.current = setTimeout(() => {
      waiting.current = null;
      reload().catch(() => undefined); // what was known stays, and the next answer asks again
    }, soon);
  }, [message.answeredAt]);
  useEffect(
    () => () => {
      clearTimeout(waiting.current ?? undefined);
      gone.current.abort();
    },
    [],
  );
  return [read ?? { state: message.answered ?? nobody, answers: [] }, reload];
}
