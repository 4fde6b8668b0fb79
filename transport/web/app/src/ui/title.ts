// The page's title: how much is unread, the screen, and the app.

import { effect, signal } from '@preact/signals';

export const screen = signal('UBL');
export const unread = signal(0);

// title is "(3) general · UBL".
export const title = () => [unread.value > 0 && `(${unread.value > 99 ? '99+' : unread.value})`, screen.value === 'UBL' ? 'UBL' : `${screen.value} · UBL`].filter(Boolean).join(' ');

// follow keeps the page's title so.
export const follow = () => effect(() => void (document.title = title()));
