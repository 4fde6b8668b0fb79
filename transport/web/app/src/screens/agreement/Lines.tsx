// The lines of an Agreement's terms, to change: who may do what, and how often and how large.

import type { ComponentChildren } from 'preact';
import { Button } from '../../ui/Button';
import { Check, Field, Select } from '../../ui/Field';
import { t } from '../../words';
import type { AtMost, May } from './choices';
import { acts, whom } from './said';
import './agreement.css';

interface Props<T> {
  lines: readonly T[];
  onLines: (lines: T[]) => void;
  dids: readonly string[];
}

export function Permits({ lines, onLines, dids, people, name }: Props<May> & { people: readonly string[]; name: (id: string) => string }) {
  const set = change(lines, onLines);
  return (
    <Group label={t('terms.permits')} add={t('terms.permits.add')} onAdd={() => onLines([...lines, { did: dids[0]!, to: 'owners' }])}>
      {lines.map((line, i) => (
        <li key={i} class="term">
          <Select label={t('terms.who')} value={line.to} options={people.map((value) => ({ value, label: whom(value, name) }))} onValue={(to) => set(i, { to })} />
          <Select label={t('terms.may')} value={line.did} options={dids.map((value) => ({ value, label: acts(value) }))} onValue={(did) => set(i, { did })} />
          <Remove label={t('terms.permits.remove', { who: whom(line.to, name), what: acts(line.did) })} onClick={() => onLines(without(lines, i))} />
        </li>
      ))}
    </Group>
  );
}

export function Limits({ lines, onLines, dids }: Props<AtMost>) {
  const set = change(lines, onLines);
  return (
    <Group label={t('terms.limits')} add={t('terms.limits.add')} onAdd={() => onLines([...lines, { did: dids[0]!, often: '', together: false, kib: '' }])}>
      {lines.map((line, i) => (
        <li key={i} class="term limit">
          <Select label={t('terms.limit.of')} value={line.did} options={dids.map((value) => ({ value, label: acts(value) }))} onValue={(did) => set(i, { did })} />
          <Field label={t('terms.limit.often')} value={line.often} inputMode="numeric" maxLength={6} autocomplete="off" onValue={(often) => set(i, { often: often.trim() })} />
          <Field label={t('terms.limit.size')} value={line.kib} inputMode="decimal" maxLength={12} autocomplete="off" onValue={(kib) => set(i, { kib: kib.trim() })} />
          <Check label={t('terms.limit.together')} checked={line.together} onValue={(together) => set(i, { together })} />
          <Remove label={t('terms.limit.remove', { what: acts(line.did) })} onClick={() => onLines(without(lines, i))} />
        </li>
      ))}
    </Group>
  );
}

const change = <T,>(lines: readonly T[], onLines: (lines: T[]) => void) => (i: number, part: Partial<T>) => onLines(lines.map((line, j) => (i === j ? { ...line, ...part } : line)));

const without = <T,>(lines: readonly T[], i: number) => lines.filter((_, j) => i !== j);

const Remove = ({ label, onClick }: { label: string; onClick: () => void }) => <Button kind="quiet" icon="close" label={label} onClick={onClick} />;

function Group({ label, add, onAdd, children }: { label: string; add: string; onAdd: () => void; children: ComponentChildren }) {
  return (
    <fieldset class="terms">
      <legend>{label}</legend>
      <ul class="stack">{children}</ul>
      <Button icon="plus" onClick={onAdd}>
        {add}
      </Button>
    </fieldset>
  );
}
