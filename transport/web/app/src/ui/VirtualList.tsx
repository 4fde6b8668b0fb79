import type { ComponentChildren, RefObject } from 'preact';
import { useImperativeHandle, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { Heights, type Range } from './heights';

// VirtualHandle moves a list from outside.
export interface VirtualHandle {
  scrollToEnd: () => void;
  // scrollToKey brings a row into the middle; false where there is none.
  scrollToKey: (key: string) => boolean;
}

interface Props<T> {
  items: readonly T[];
  keyOf: (item: T) => string;
  children: (item: T, index: number) => ComponentChildren;
  // estimate is the height of a row that wasn't seen yet, in pixels.
  estimate?: number;
  // from is the end at which the list begins. At "end" it stays there when rows
  // are added, unless the person has scrolled away.
  from?: 'start' | 'end';
  // onNearStart and onNearEnd ask for more rows there. They may be called again
  // before those have come.
  onNearStart?: () => void;
  onNearEnd?: () => void;
  // onEnd tells when the list comes to its end and when it leaves it.
  onEnd?: (atEnd: boolean) => void;
  handle?: RefObject<VirtualHandle | null>;
  label: string;
  role?: 'list' | 'log' | 'feed';
  class?: string;
}

const beyond = 600; // pixels that are rendered above and below what is in view
const spare = 6; // rows that are rendered beyond that, so that a new one is mostly there already
const step = 8; // rows that are added at either end with a frame: many at once would keep keys waiting
const near = 1200; // pixels from an end at which more is asked for
const close = 40; // pixels from the end that still count as there

// VirtualList shows the rows in view of a list of any length, whose rows may have any
// height. What the person looks at stays where it is while rows come and grow
// around it, which Safari doesn't do by itself.
export function VirtualList<T>(p: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const all = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  const heights = useMemo(() => new Heights(p.estimate ?? 72), []);
  // eye is the row at the upper edge, by which the view is held; at the end it is
  // held by that.
  const eye = useRef({ atEnd: p.from === 'end', key: '', below: 0 });
  const told = useRef(p.from === 'end'); // what onEnd was told last
  const range = useRef<Range>([0, 0]); // of the rows to render
  const drawn = useRef({ from: 0, keys: [] as string[] }); // those that were rendered last
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const frame = useRef(0); // in which more is rendered
  const latest = useRef(p);
  latest.current = p;
  useMemo(() => {
    heights.lay(p.items.map(p.keyOf));
    range.current = heights.moved(range.current, drawn.current.from, drawn.current.keys);
  }, [p.items]);

  const hold = () => {
    const view = box.current;
    if (!view || !all.current) return;
    const { clientHeight, scrollTop } = view; // read before anything is set: after that it costs a layout
    all.current.style.height = `${heights.total}px`;
    const { atEnd, key, below } = eye.current;
    const index = key ? heights.indexOf(key) : -1;
    const to = atEnd ? heights.total - clientHeight : index >= 0 ? heights.top(index) + below : scrollTop;
    if (Math.abs(scrollTop - to) >= 1) view.scrollTop = to;
  };

  // show renders what is in view at once, and what is beyond it some rows a frame.
  const show = (more = 0) => {
    const view = box.current;
    if (!view) return;
    const [from, to] = range.current;
    const [top, bottom] = heights.between(view.scrollTop, view.scrollTop + view.clientHeight);
    const [first, end] = heights.between(view.scrollTop - beyond, view.scrollTop + view.clientHeight + beyond);
    if (from <= first && to >= end && to - from <= end - first + 4 * spare) return;
    const nearby = from < bottom && to > top;
    const [low, high]: Range = nearby ? [Math.min(from - more, top), Math.max(to + more, bottom)] : [top, bottom];
    range.current = [Math.max(low, first - spare, 0), Math.min(high, end + spare)];
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => show(step));
    if (range.current[0] !== from || range.current[1] !== to) draw(0);
  };

  const askForMore = () => {
    const view = box.current;
    if (!view || view.clientHeight === 0) return;
    if (view.scrollTop < near) latest.current.onNearStart?.();
    if (heights.total - view.scrollTop - view.clientHeight < near) latest.current.onNearEnd?.();
  };

  const look = () => {
    const view = box.current;
    if (!view) return;
    const index = heights.at(view.scrollTop);
    const atEnd = latest.current.from === 'end' && heights.total - view.scrollTop - view.clientHeight < close;
    eye.current = { atEnd, key: heights.key(index) ?? '', below: view.scrollTop - heights.top(index) };
    tell(atEnd);
  };

  const tell = (atEnd: boolean) => {
    if (told.current === atEnd) return;
    told.current = atEnd;
    latest.current.onEnd?.(atEnd);
  };

  const measure = () => {
    heights.measure([...(rows.current?.children ?? [])].map((row) => [(row as HTMLElement).dataset.key!, row.getBoundingClientRect().height] as const));
    if (rows.current) rows.current.style.transform = `translateY(${heights.top(heights.indexOf((rows.current.firstElementChild as HTMLElement | null)?.dataset.key ?? ''))}px)`;
    hold();
    show();
  };

  useLayoutEffect(measure);
  useLayoutEffect(askForMore, [p.items]);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(measure);
    watch.observe(box.current!);
    watch.observe(rows.current!);
    return () => {
      watch.disconnect();
      cancelAnimationFrame(frame.current);
    };
  }, []);
  useImperativeHandle<VirtualHandle, VirtualHandle>(p.handle ?? null, () => ({
    scrollToEnd: () => {
      eye.current.atEnd = true;
      hold();
      show();
      tell(true);
    },
    scrollToKey: (key) => {
      if (heights.indexOf(key) < 0) return false;
      eye.current = { atEnd: false, key, below: -box.current!.clientHeight / 3 };
      hold();
      show();
      requestAnimationFrame(look); // near the end nothing may scroll, and so tell
      return true;
    },
  }));

  const [from] = range.current;
  const shown = p.items.slice(...range.current);
  drawn.current = { from, keys: shown.map(p.keyOf) };
  return (
    <div
      ref={box}
      class={['virtual', p.class].filter(Boolean).join(' ')}
      role={p.role ?? 'list'}
      aria-label={p.label}
      aria-live="off"
      tabIndex={0}
      onScroll={() => {
        look();
        show();
        askForMore();
      }}
    >
      <div ref={all} class="all" role="presentation">
        <div ref={rows} class="rows" role="presentation">
          {shown.map((item, i) => {
            const key = drawn.current.keys[i]!;
            return (
              <div key={key} data-key={key} role={(p.role ?? 'list') === 'list' ? 'listitem' : undefined}>
                {p.children(item, from + i)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
