import { useId } from 'preact/hooks';
import type { ComponentChildren, InputHTMLAttributes, Ref, TargetedInputEvent, TextareaHTMLAttributes } from 'preact';

interface Common {
  label: string;
  hint?: ComponentChildren;
  // error is what is wrong with the value; it is read out with the field.
  error?: string;
  value: string;
  onValue: (value: string) => void;
}

type Line = Common & { lines?: undefined; input?: Ref<HTMLInputElement> } & Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'label' | 'onInput'>;
type Text = Common & { lines: number; input?: Ref<HTMLTextAreaElement> } & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'label' | 'onInput'>;

// Field is a labelled line of text, or several with lines.
export function Field({ label, hint, error, onValue, lines, input, ...rest }: Line | Text) {
  const id = useId();
  const common = {
    dir: 'auto' as const,
    ...rest,
    id,
    class: 'input',
    onInput: (e: TargetedInputEvent<HTMLInputElement & HTMLTextAreaElement>) => onValue(e.currentTarget.value),
    'aria-invalid': error ? (true as const) : undefined,
    'aria-describedby': describedBy(id, hint, error),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {lines ? <textarea {...(common as object)} rows={lines} ref={input as Ref<HTMLTextAreaElement>} /> : <input {...(common as object)} ref={input as Ref<HTMLInputElement>} />}
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

interface SelectProps<T extends string> {
  label: string;
  hint?: ComponentChildren;
  value: T;
  options: readonly { value: T; label: string }[];
  onValue: (value: T) => void;
  disabled?: boolean;
  error?: string;
}

// Select is a choice among many; see Choice for a few.
export function Select<T extends string>({ label, hint, value, options, onValue, disabled, error }: SelectProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} class="input" value={value} disabled={disabled} aria-invalid={error ? true : undefined} aria-describedby={describedBy(id, hint, error)} onChange={(e) => onValue(e.currentTarget.value as T)}>
        {options.map((o) => (
          <option key={o.value} value={o.value}>
            {o.label}
          </option>
        ))}
      </select>
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

// Choice is one of a few, side by side; with many, in as many lines as they take.
export function Choice<T extends string>({ label, hint, value, options, onValue, many }: SelectProps<T> & { many?: boolean }) {
  const id = useId();
  return (
    <fieldset class="choice" aria-describedby={describedBy(id, hint)}>
      <legend>{label}</legend>
      <div class={many ? 'segments many' : 'segments'}>
        {options.map((o) => (
          <label key={o.value}>
            <input type="radio" name={id} value={o.value} checked={o.value === value} onChange={() => onValue(o.value)} />
            <span>{o.label}</span>
          </label>
        ))}
      </div>
      <Notes id={id} hint={hint} />
    </fieldset>
  );
}

interface CheckProps {
  label: string;
  hint?: ComponentChildren;
  checked: boolean;
  onValue: (checked: boolean) => void;
  disabled?: boolean;
}

// Check is a switch.
export function Check({ label, hint, checked, onValue, disabled }: CheckProps) {
  const id = useId();
  return (
    <div class="check">
      <input type="checkbox" role="switch" id={id} checked={checked} disabled={disabled} aria-describedby={describedBy(id, hint)} onChange={(e) => onValue(e.currentTarget.checked)} />
      <label for={id}>{label}</label>
      <Notes id={id} hint={hint} />
    </div>
  );
}

const describedBy = (id: string, hint?: ComponentChildren, error?: string) =>
  [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;

function Notes({ id, hint, error }: { id: string; hint?: ComponentChildren; error?: string }) {
  return (
    <>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </>
  );
}
