// What one asks the server about forms.

import { at, get, newKey, post, query } from '../../api';
import type { EntryAnswer, Form, FormAnswer, FormField, FormState, FormValues, Message } from '../../types';
import { t } from '../../words';

export const nobody: FormState = { answered: 0, by: [] };

export const answer = ({ room_id, msg_id }: Message, values: FormValues) => post(at`/api/rooms/${room_id}/forms/${msg_id}/answers`, { values }, { key: newKey() });

// Standing is how a form stands, with the answers that one may see, the first of them.
export interface Standing {
  state: FormState;
  answers: FormAnswer[];
}

export const standingOf = ({ room_id, msg_id }: Message, signal: AbortSignal): Promise<Standing> =>
  get<EntryAnswer & { answers: FormAnswer[] }>(at`/api/rooms/${room_id}/forms/${msg_id}` + query({ limit: 50 }), { signal }).then(({ entry, answers }) => ({ state: entry.form ?? nobody, answers }));

// isButtons tells a form that one press answers.
export const isButtons = ({ fields }: Form) => fields.length === 1 && fields[0]!.type === 'button';

// saidIn is a value in words.
export function saidIn({ type }: FormField, value: FormValues[string]): string {
  if (type === 'yes_no') return t(value === true ? 'form.yes' : 'form.no');
  return Array.isArray(value) ? value.join(', ') : String(value);
}

// valuesIn are what was filled in, without what was left empty.
export function valuesIn({ fields }: Form, filled: FormValues): FormValues {
  const values: FormValues = {};
  for (const { name, type } of fields) {
    const value = Object.hasOwn(filled, name) ? filled[name] : undefined;
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue;
    values[name] = type === 'number' ? Number(value) : value;
  }
  return values;
}

// lacks says what is wrong with a value, undefined where the field takes it. The server has the last word.
export function lacks(field: FormField, filled: FormValues): string | undefined {
  const value = valuesIn({ text: '', fields: [field] }, filled)[field.name];
  if (value === undefined) return field.required ? t('form.required') : undefined;
  const { type, min, max, from, until } = field;
  const counted = type === 'number' ? Number(value) : Array.isArray(value) ? value.length : [...String(value)].length;
  const bounded = type === 'number' || type === 'line' || type === 'text' || type === 'several';
  if (Number.isNaN(counted) || (bounded && ((min !== undefined && counted < min) || (max !== undefined && counted > max)))) return t('form.bounds', { min: min ?? '…', max: max ?? '…' });
  if (type === 'date' && ((from && value < from) || (until && value > until))) return t('form.bounds', { min: from ?? '…', max: until ?? '…' });
  return undefined;
}
