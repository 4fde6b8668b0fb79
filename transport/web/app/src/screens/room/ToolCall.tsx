// Calling a tool of another server: its form, filled in as far as that was written. Nothing is called
// before one has pressed the button; of what may change or delete something the form says so.

import './ToolCall.css';
import { useRef, useState } from 'preact/hooks';
import { ApiError, at, newKey, post } from '../../api';
import { go } from '../../router';
import type { ToolResult } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Check, Field as Line, Select } from '../../ui/Field';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import { ReceiptLink } from '../ReceiptLink';
import { descriptionOf, destroys, filled, formOf, messageOf, optionOf, plain, read, textOf, titleOf, type Field, type Problems, type Wrong } from './calling';
import { factsOf } from './facts';
import type { Calling, Talk } from './talk';

const slow = 120_000; // ms that another server may take
const least = 1000; // bytes of a message while the room's limit isn't known

export default function ToolCall({ talk, of }: { talk: Talk; of: Calling }) {
  const { use: { tool, server }, rest, done } = of;
  const form = useRef(formOf(tool)).current;
  const [values, setValues] = useState(() => filled(form, rest));
  const [wrong, setWrong] = useState<Wrong>(new Map());
  const [share, setShare] = useState(true);
  const [answer, setAnswer] = useState<ToolResult | null>(null);
  const act = useAct();
  const key = useRef(newKey());
  const danger = destroys(tool);
  const close = () => {
    if (!act.busy) talk.calling.value = null; // a call can't be taken back, and its receipt is told here
  };
  const call = async () => {
    const { args, wrong } = read(form, values);
    setWrong(wrong);
    if (!args) return;
    await act.run(async () => {
      const result = await post<ToolResult>(at`/api/portal/tools/${tool.tool}/call`, { arguments: args }, { key: key.current, timeout: slow }).catch((problem: unknown) => {
        // A call whose answer was lost is asked for under the same key: it may have been made.
        if (!(problem instanceof ApiError) || !problem.mayRetry) key.current = newKey();
        throw problem;
      });
      if (talk.calling.peek() !== of) return; // the room was left meanwhile
      done();
      if (!share || result.is_error) return setAnswer(result);
      tell(args, result);
      talk.calling.value = null;
    });
  };
  const tell = (args: Record<string, unknown>, result: ToolResult) => {
    const path = `/ui/ledger/${result.receipt.seq}`;
    const receipt = `[${t('call.receipt')}](${location.origin}${path})`;
    const head = `**${plain(server)}: ${plain(titleOf(tool))}**`;
    talk.send(messageOf({ head, args, form, answer: said(result), receipt }, factsOf(talk.roomId)?.limit ?? least));
    toast(t('call.done'), { action: { label: t('call.receipt'), run: () => go(path) } });
  };
  const set = (name: string, value: string) => {
    setValues(new Map(values).set(name, value));
    setWrong(new Map());
    key.current = newKey();
  };
  if (answer) return <Answer of={answer} title={titleOf(tool)} onClose={close} />;
  return (
    <Dialog
      title={titleOf(tool)}
      onClose={close}
      onSubmit={() => void call()}
      actions={
        <>
          <Button onClick={close} disabled={act.busy}>{t('do.cancel')}</Button>
          <Button kind={danger ? 'danger' : 'primary'} type="submit" busy={act.busy}>
            {t('call.action')}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p class="soft small">
          <bdi>{t('call.of', { server, tool: tool.tool })}</bdi>
        </p>
        {descriptionOf(tool) && (
          <p class="call-says" dir="auto">
            {descriptionOf(tool)}
          </p>
        )}
        {danger && <p class="notice">{t('call.danger', { server })}</p>}
        {form.fields.map((field) => (
          <Entry key={field.name} of={field} value={values.get(field.name) ?? ''} problem={wrong.get(field.name)} onValue={(value) => set(field.name, value)} />
        ))}
        <Check label={t('call.share')} hint={t('call.share.hint')} checked={share} onValue={setShare} />
        <Problem of={act.problem} />
      </div>
    </Dialog>
  );
}

function said(result: ToolResult): string {
  const { text, others } = textOf(result);
  return [text, others > 0 && t('call.others', { n: others })].filter(Boolean).join('\n\n');
}

interface EntryProps {
  of: Field;
  value: string;
  problem?: Problems;
  onValue: (value: string) => void;
}

function Entry({ of, value, problem, onValue }: EntryProps) {
  const label = of.name === '' ? t('call.free') : of.required ? of.label : t('call.optional', { name: of.label });
  const common = { label, hint: of.hint ? <bdi>{of.hint}</bdi> : undefined, value, onValue };
  if (of.kind === 'yes') return <Check label={label} hint={common.hint} checked={value === 'true'} onValue={(on) => onValue(String(on))} />;
  const error = problem && t(`call.wrong.${problem}`);
  if (of.kind === 'choice') return <Select {...common} error={error} options={[...(of.required && value ? [] : [{ value: '', label: t('call.none') }]), ...of.options.map((one) => ({ value: optionOf(one), label: labelOf(one) }))]} />;
  if (of.kind === 'json') return <Line {...common} error={error} lines={3} spellcheck={false} autocomplete="off" />;
  return <Line {...common} error={error} type={of.secret ? 'password' : 'text'} inputMode={of.kind === 'text' ? undefined : 'decimal'} autocomplete="off" />;
}

const labelOf = (one: unknown) => (typeof one === 'boolean' ? t(one ? 'form.yes' : 'form.no') : optionOf(one) || t('call.none'));

// Answer is what a tool answered that isn't told to the room.
function Answer({ of, title, onClose }: { of: ToolResult; title: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>{t('do.close')}</Button>}>
      <div class="stack">
        {of.is_error && <p class="notice">{t('call.failed')}</p>}
        <pre class="call-answer" dir="auto" tabIndex={0}>
          {said(of) || t('call.empty')}
        </pre>
        <p>
          {t('call.receipt')} <ReceiptLink of={of.receipt} what={t('call.receipt')} />
        </p>
      </div>
    </Dialog>
  );
}
