// How far somebody has read: as far as a row was in view, in a page that was shown.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Talk } from './talk';

const pause = 250; // ms between two looks

// useSeen answers a function to call whenever another row may have come into view.
export function useSeen(box: RefObject<HTMLElement | null>, onSeen: (key: string) => void, talk: Talk): () => void {
  const timer = useRef(0);
  const latest = useRef(onSeen);
  latest.current = onSeen;
  const look = () => {
    timer.current = 0;
    const key = !document.hidden && box.current && lowestKey(box.current);
    if (key) latest.current(key);
  };
  const seen = () => {
    timer.current ||= setTimeout(look, pause) as unknown as number;
  };
  useEffect(() => {
    const shown = () => {
      if (document.hidden) return;
      talk.returned();
      seen();
    };
    document.addEventListener('visibilitychange', shown);
    return () => {
      document.removeEventListener('visibilitychange', shown);
      clearTimeout(timer.current);
    };
  }, []);
  return seen;
}

function lowestKey(box: HTMLElement): string | undefined {
  const edge = box.getBoundingClientRect().bottom;
  const rows = [...box.querySelectorAll<HTMLElement>('[data-key]')];
  return rows.findLast((row) => row.getBoundingClientRect().bottom <= edge + 24)?.dataset.key;
}
