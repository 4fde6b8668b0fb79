// What belongs to the device and not to a person: the theme, the height that the
// on-screen keyboard leaves, and whether there is a network.

import { effect, signal } from '@preact/signals';
import { onReached } from './api';

export type Theme = 'auto' | 'light' | 'dark';

const themeKey = 'ubl.theme';
const saved = localStorage.getItem(themeKey);

export const theme = signal<Theme>(saved === 'light' || saved === 'dark' ? saved : 'auto');

// online is false where the browser knows no network and the server doesn't
// answer: a machine with nothing but loopback has no network, and may run the server.
export const online = signal(navigator.onLine);

// touch tells that the main pointer is a finger: there Enter is a line break.
export const touch = matchMedia('(pointer: coarse)').matches;

// settle applies all that and keeps it up to date.
export function settle(): void {
  effect(applyTheme);
  addEventListener('online', () => (online.value = true));
  addEventListener('offline', () => (online.value = false));
  onReached((answered) => (online.value = answered || navigator.onLine));
  visualViewport?.addEventListener('resize', fit);
  visualViewport?.addEventListener('scroll', fit);
  fit();
}

function applyTheme() {
  const root = document.documentElement;
  if (theme.value === 'auto') {
    delete root.dataset.theme;
    localStorage.removeItem(themeKey);
  } else {
    root.dataset.theme = theme.value;
    localStorage.setItem(themeKey, theme.value);
  }
}

// fit keeps the app in what is visible: on an iPhone the keyboard covers the page
// instead of making it smaller, and scrolls it away.
function fit() {
  const view = visualViewport;
  if (!view || view.scale !== 1) return; // zoomed in by hand
  document.documentElement.style.setProperty('--app-height', `${view.height}px`);
  document.documentElement.classList.toggle('keyboard', innerHeight - view.height > 120);
  if (view.offsetTop > 0) scrollTo(0, 0);
}
