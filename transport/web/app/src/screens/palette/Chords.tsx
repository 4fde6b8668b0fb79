import type { Chord } from '../../commands';
import { t, type Key } from '../../words';

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

const signs: Record<string, string> = { ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };

// Chords shows keys as they stand on the person's keyboard: "⌘ K", "Alt ↑".
export function Chords({ of }: { of: readonly Chord[] }) {
  return (
    <span class="chords" dir="ltr">
      {of.map((chord) => (
        <kbd key={text(chord)}>{text(chord)}</kbd>
      ))}
    </span>
  );
}

function text({ key, mod, alt, shift }: Chord): string {
  const last = key.includes('.') ? t(key as Key) : (signs[key] ?? (key.length === 1 ? key.toLocaleUpperCase() : key));
  return [mod && (mac ? '⌘' : 'Ctrl'), alt && (mac ? '⌥' : 'Alt'), shift && (mac ? '⇧' : 'Shift'), last].filter(Boolean).join(' ');
}
