import { signal } from '@preact/signals';
import { said } from '../api';
import { Button } from './Button';

interface Options {
  kind?: 'info' | 'bad';
  action?: { label: string; run: () => void };
  // sticky stays until it is closed.
  sticky?: boolean;
}

interface Shown extends Options {
  n: number;
  text: string;
}

const shown = signal<Shown[]>([]);
const stay = 6000; // milliseconds
let last = 0;

// toast says something briefly at the edge of the screen.
export function toast(text: string, o: Options = {}): void {
  const n = ++last;
  shown.value = [...shown.value.filter((t) => t.text !== text), { ...o, n, text }].slice(-3);
  if (!o.sticky) setTimeout(() => dismiss(n), stay);
}

// failed says what went wrong.
export const failed = (problem: unknown) => toast(said(problem), { kind: 'bad' });

const dismiss = (n: number) => (shown.value = shown.value.filter((t) => t.n !== n));

// Toasts is where they show; the app has one.
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((t) => (
        <div key={t.n} class={`toast ${t.kind ?? 'info'}`}>
          <span dir="auto">{t.text}</span>
          {t.action && (
            <Button
              kind="quiet"
              onClick={() => {
                t.action?.run();
                dismiss(t.n);
              }}
            >
              {t.action.label}
            </Button>
          )}
          <Button kind="quiet" icon="close" label="Dismiss" onClick={() => dismiss(t.n)} />
        </div>
      ))}
    </div>
  );
}
