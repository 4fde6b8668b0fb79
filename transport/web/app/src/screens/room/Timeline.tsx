// A room's messages, the newest at the end. Only what is in view is on the page, be
// there 100,000 of them.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { TargetedKeyboardEvent } from 'preact';
import type { Item } from '../../store/rows';
import { Badge } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Empty, Failed } from '../../ui/Empty';
import { Icon } from '../../ui/Icon';
import { lazy } from '../../ui/lazy';
import { Spinner } from '../../ui/Spinner';
import { VirtualList, type VirtualHandle } from '../../ui/VirtualList';
import { placeOf } from './group';
import { MessageRow } from './MessageRow';
import { useSeen } from './seen';
import { end, type Talk } from './talk';
import { t } from '../../words';

interface Props {
  talk: Talk;
  label: string;
  unread: number;
  // onLeave is called when the arrow keys lead out of the list at its end.
  onLeave: () => void;
}

const ToFresh = lazy(() => import('./ToFresh'), true);

const keyOf = (item: Item) => item.key;

export function Timeline({ talk, label, unread, onLeave }: Props) {
  const { window } = talk;
  const list = useRef<VirtualHandle>(null);
  const box = useRef<HTMLDivElement>(null);
  const [listAtEnd, setListAtEnd] = useState(true);
  const items = window.items.value;
  const atEnd = listAtEnd && window.atEnd.value;
  const seen = useSeen(box, (key) => talk.read(items.find((item) => item.key === key)), talk);
  useEffect(seen, [items, atEnd]);
  useEffect(() => window.looksAtEnd(atEnd), [atEnd]);
  useLayoutEffect(() => {
    const { value } = talk.target;
    if (value === null) return;
    if (value === end) list.current?.scrollToEnd();
    else if (!list.current?.scrollToKey(value)) return;
    talk.target.value = null;
  }, [items, talk.target.value]);

  if (!window.ready.value) return <Spinner />;
  if (items.length === 0) return window.problem.value ? <Failed problem={window.problem.value} onRetry={() => void window.toEnd()} /> : <Empty icon="room" title={t('rooms.empty')} />;
  const divider = talk.fresh();
  const own = talk.thread ? -1 : items.findLastIndex(({ message }) => message?.type === 'text' && message.sender_id === talk.store.who.user_id);
  return (
    <div class={talk.thread ? 'timeline whole' : 'timeline'} ref={box} onScrollCapture={seen} onKeyDown={(e) => walk(e, onLeave)}>
      <VirtualList
        items={items}
        keyOf={keyOf}
        estimate={60}
        from={window.atEnd.value ? 'end' : 'start'}
        handle={list}
        label={label}
        role="log"
        onNearStart={() => void window.loadOlder()}
        onNearEnd={() => void window.loadNewer()}
        onEnd={setListAtEnd}
      >
        {(item, i) => (
          <MessageRow item={item} talk={talk} {...placeOf(items, i, divider)} fresh={divider > 0 && item.message?.room_seq === divider} tail={i === items.length - 1} own={i === own} answers={talk.thread && i === 0 ? items.length - 1 : undefined} />
        )}
      </VirtualList>
      {window.loading.value === 'older' && (
        <div class="reading">
          <Spinner label={t('talk.older')} />
        </div>
      )}
      {talk.divider.value > 0 && <ToFresh talk={talk} box={box} />}
      {!atEnd && (
        <div class="to-end">
          <Button icon="down" label={t('talk.newest', { n: unread })} onClick={() => void talk.toEnd()} />
          {unread > 0 && <Badge kind="accent">{unread > 999 ? '999+' : unread}</Badge>}
        </div>
      )}
      {window.problem.value !== null && (
        <p class="reading problem">
          <Icon name="offline" size={16} /> {t('talk.lacking')}
        </p>
      )}
    </div>
  );
}

// walk moves the focus among the messages on the page.
function walk(e: TargetedKeyboardEvent<HTMLElement>, onLeave: () => void) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[e.key];
  const on = document.activeElement;
  if (!step || !on?.matches('.bubble, .virtual')) return;
  const bubbles = [...e.currentTarget.querySelectorAll<HTMLElement>('.bubble')];
  const at = bubbles.indexOf(on as HTMLElement);
  if (at < 0 && step > 0) return;
  const next = bubbles[at < 0 ? lowest(bubbles, e.currentTarget) : at + step];
  e.preventDefault();
  if (next) {
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: 'nearest' });
  } else if (step > 0) onLeave();
}

// lowest is the last bubble that is in view.
function lowest(bubbles: HTMLElement[], box: HTMLElement): number {
  const edge = box.getBoundingClientRect().bottom;
  return bubbles.findLastIndex((bubble) => bubble.getBoundingClientRect().top < edge);
}
