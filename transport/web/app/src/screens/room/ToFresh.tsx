// The way up to the first message that is new, until that was in view.

import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../ui/Button';
import { t } from '../../words';
import type { Talk } from './talk';

export default function ToFresh({ talk, box }: { talk: Talk; box: RefObject<HTMLElement | null> }) {
  const divider = talk.divider.value;
  const items = talk.window.items.value;
  const [above, setAbove] = useState(false);
  const [seen, setSeen] = useState(0);
  useEffect(() => {
    const list = box.current;
    if (!list) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      const edges = list.getBoundingClientRect();
      const line = list.querySelector('.fresh')?.getBoundingClientRect();
      const top = [...list.querySelectorAll<HTMLElement>('[data-key]')].find((row) => row.getBoundingClientRect().bottom > edges.top)?.dataset.key;
      const first = items.find(({ key }) => key === top)?.message?.room_seq;
      if (line && line.bottom > edges.top && line.top < edges.bottom) setSeen(divider);
      setAbove(line ? line.bottom <= edges.top : first !== undefined && first > divider);
    };
    const soon = () => {
      frame ||= requestAnimationFrame(look);
    };
    soon();
    list.addEventListener('scroll', soon, true);
    return () => {
      list.removeEventListener('scroll', soon, true);
      cancelAnimationFrame(frame);
    };
  }, [divider, items]);
  if (!above || seen === divider) return null;
  const jump = () => {
    box.current?.querySelector<HTMLElement>('.virtual')?.focus(); // the button is gone then
    void talk.toFresh();
  };
  return (
    <div class="to-fresh">
      <Button icon="up" onClick={jump}>
        {t('fresh.jump')}
      </Button>
    </div>
  );
}
