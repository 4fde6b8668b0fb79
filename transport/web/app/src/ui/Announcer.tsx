import { signal } from '@preact/signals';
import { t } from '../words';

const spoken = signal<{ n: number; text: string }[]>([]);
let last = 0;

// announce has a screen reader say a text when it is done with what it says now.
// Lists that show only what is in view use it for what is new.
export function announce(text: string): void {
  spoken.value = [...spoken.value, { n: ++last, text }].slice(-5);
}

// silence takes back what is there to be said.
export function silence(): void {
  spoken.value = [];
}

// Announcer is what screen readers watch; the app has one.
export function Announcer() {
  return (
    <div class="hidden" role="log" aria-live="polite" aria-label={t('do.news')}>
      {spoken.value.map((s) => (
        <p key={s.n} dir="auto">
          {s.text}
        </p>
      ))}
    </div>
  );
}
