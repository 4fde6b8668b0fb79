import { signal } from '@preact/signals';
import { said } from '../said';
import { Button } from './Button';
import { t } from '../words';

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
      {shown.value.map((one) => (
        <div key={one.n} class={`toast ${one.kind ?? 'info'}`}>
          <span dir="auto">{one.text}</span>
          {one.action && (
            <Button
              kind="quiet"
              onClick={() => {
                one.action?.run();
                dismiss(one.n);
              }}
            >
              {one.action.label}
            </Button>
          )}
          <Button kind="quiet" icon="close" label={t('do.dismiss')} onClick={() => dismiss(one.n)} />
        </div>
      ))}
    </div>
  );
}
