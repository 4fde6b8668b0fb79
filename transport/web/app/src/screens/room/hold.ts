// Ways to ask for a message's menu: a long press with a finger, the right button, or
// the keyboard's menu key, which browsers turn into a contextmenu event themselves.

import { useRef } from 'preact/hooks';
import type { TargetedMouseEvent, TargetedPointerEvent } from 'preact';

const long = 450; // ms
const still = 10; // pixels that a finger may move

type Open = (x: number, y: number) => void;

// useHold are the handlers of an element that opens at a point.
export function useHold(open: Open) {
  const hold = useRef({ timer: 0, x: 0, y: 0, held: false }).current;
  const stop = () => clearTimeout(hold.timer);
  return {
    onPointerDown: (e: TargetedPointerEvent<HTMLElement>) => {
      hold.held = false;
      if (e.pointerType !== 'touch') return;
      [hold.x, hold.y] = [e.clientX, e.clientY];
      stop();
      hold.timer = setTimeout(() => {
        hold.held = true;
        open(hold.x, hold.y);
      }, long) as unknown as number;
    },
    onPointerMove: (e: TargetedPointerEvent<HTMLElement>) => {
      if (Math.hypot(e.clientX - hold.x, e.clientY - hold.y) > still) stop();
    },
    onPointerUp: stop,
    onPointerCancel: stop,
    // The click that ends a long press must not follow a link.
    onClickCapture: (e: TargetedMouseEvent<HTMLElement>) => {
      if (!hold.held) return;
      hold.held = false;
      e.preventDefault();
      e.stopPropagation();
    },
    // Selected text and links keep the browser's own menu.
    onContextMenu: (e: TargetedMouseEvent<HTMLElement>) => {
      if (!getSelection()?.isCollapsed || (e.target as Element).closest('a')) return;
      e.preventDefault();
      stop();
      const box = e.currentTarget.getBoundingClientRect();
      const byKey = e.clientX === 0 && e.clientY === 0;
      open(byKey ? box.left + 16 : e.clientX, byKey ? box.top + 16 : e.clientY);
    },
  };
}
