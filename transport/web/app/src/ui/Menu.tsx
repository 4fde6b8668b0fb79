import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from './Button';
import { Icon, type IconName } from './Icon';

export interface MenuItem {
  label: string;
  icon?: IconName;
  danger?: boolean;
  disabled?: boolean;
  onSelect: () => void;
}

// Menu is a button that opens a list of actions below it.
export function Menu({ label, icon = 'more', items }: { label: string; icon?: IconName; items: MenuItem[] }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const outside = (e: Event) => box.current?.contains(e.target as Node) || setOpen(false);
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  return (
    <div class="menu" ref={box}>
      <Button kind="quiet" icon={icon} label={label} aria-haspopup="menu" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)} />
      {open && <MenuItems id={id} label={label} items={items} onClose={close} onTab={() => setOpen(false)} />}
    </div>
  );
}

interface ItemsProps {
  id?: string;
  label: string;
  items: MenuItem[];
  // onClose is called before an item's work, and for Escape.
  onClose: () => void;
  onTab?: () => void;
}

// MenuItems is the list of an open menu. It takes the focus, and the arrow keys move
// within it.
export function MenuItems({ id, label, items, onClose, onTab }: ItemsProps) {
  const list = useRef<HTMLDivElement>(null);
  // At once: after a frame it would take the focus from where an arrow key has moved it.
  useLayoutEffect(() => list.current?.querySelector<HTMLElement>('button:not(:disabled)')?.focus(), []);
  return (
    <div
      class="items"
      role="menu"
      id={id}
      aria-label={label}
      ref={list}
      onKeyDown={(e) => {
        if (e.key === 'Tab') return onTab?.();
        if (e.key === 'Escape') onClose();
        else if (!step(list.current, e.key)) return;
        e.preventDefault();
      }}
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={item.danger ? 'danger' : undefined}
          disabled={item.disabled}
          onClick={() => {
            onClose();
            item.onSelect();
          }}
        >
          {item.icon && <Icon name={item.icon} size={20} />}
          {item.label}
        </button>
      ))}
    </div>
  );
}

// step moves the focus within an open menu, round its ends.
function step(list: HTMLElement | null, key: string): boolean {
  const items = [...(list?.querySelectorAll<HTMLElement>('button:not(:disabled)') ?? [])];
  const now = items.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1 + items.length, Home: 0, End: items.length - 1 }[key];
  if (next === undefined || items.length === 0) return false;
  items[next % items.length]?.focus();
  return true;
}
