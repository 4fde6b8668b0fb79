import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from '../router';

interface RowProps {
  // to makes the row a link, onClick a button; neither makes it plain text.
  to?: string;
  onClick?: () => void;
  // start is an Avatar or Icon, end whatever stands at the other side.
  start?: ComponentChildren;
  title: ComponentChildren;
  sub?: ComponentChildren;
  // below is a line of its own for what must never be cut: it wraps.
  below?: ComponentChildren;
  // meta stands in the corner, small: a time, a number.
  meta?: ComponentChildren;
  end?: ComponentChildren;
  current?: boolean;
  // within is a row of a list whose items are made by itself, such as VirtualList.
  within?: boolean;
  // lit is the row that one has come for: it is brought into view, and stands out.
  lit?: boolean;
}

// Row is one element of a List.
export function Row({ to, onClick, start, title, sub, below, meta, end, current, within, lit }: RowProps) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (lit) box.current?.scrollIntoView({ block: 'center' });
  }, [lit]);
  const Item = within ? 'div' : 'li';
  const inside = (
    <>
      {start}
      <span class="words">
        <span class="first">
          <span class="title" dir="auto">
            {title}
          </span>
          {meta !== undefined && <span class="meta">{meta}</span>}
        </span>
        {sub !== undefined && (
          <span class="sub" dir={typeof sub === 'string' ? 'auto' : undefined}>
            {sub}
          </span>
        )}
        {below !== undefined && (
          <span class="below" dir="auto">
            {below}
          </span>
        )}
      </span>
    </>
  );
  return (
    <Item class={lit ? 'row lit' : 'row'} ref={box as never}>
      {to !== undefined ? (
        <Link class="body" to={to} aria-current={current ? 'page' : undefined}>
          {inside}
        </Link>
      ) : onClick ? (
        <button type="button" class="body" onClick={onClick}>
          {inside}
        </button>
      ) : (
        <div class="body">{inside}</div>
      )}
      {end !== undefined && <span class="end">{end}</span>}
    </Item>
  );
}

// List is rows, among which the arrow keys move.
export function List({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <ul class="list" aria-label={label} onKeyDown={arrows}>
      {children}
    </ul>
  );
}

// arrows moves the focus among the rows of a list.
export function arrows(e: TargetedKeyboardEvent<HTMLElement>): void {
  const rows = [...e.currentTarget.querySelectorAll<HTMLElement>('a.body, button.body')];
  const now = rows.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: rows.length - 1 }[e.key];
  if (now < 0 || next === undefined || !rows[next]) return;
  e.preventDefault();
  rows[next].focus();
}
