// What belongs to the device and not to a person: how the app looks here, its language,
// what Enter does, the height that the on-screen keyboard leaves, and whether there is a
// network. It is kept in localStorage, under a name for each; what isn't set there follows
// the system.

import { computed, effect, signal, type Signal } from '@preact/signals';
import { onReached } from './api';
import { isLanguage, preferred, type Language } from './words/locale';
import { speak } from './words';

export type Theme = 'auto' | 'light' | 'dark';
export type Contrast = 'auto' | 'more';
export type Size = (typeof sizes)[number];
export type Enter = 'auto' | 'send' | 'break';

// sizes of text, in percent of the browser's.
export const sizes = ['90', '100', '115', '130', '160', '200'] as const;

const oneOf =
  <T extends string>(...all: readonly T[]) =>
  (value: string): value is T =>
    (all as readonly string[]).includes(value);

export const theme = setting<Theme>('ubl.theme', 'auto', oneOf('light', 'dark'));
export const contrast = setting<Contrast>('ubl.contrast', 'auto', oneOf('more'));
export const size = setting<Size>('ubl.text', '100', oneOf(...sizes));
export const chosen = setting<Language | 'auto'>('ubl.language', 'auto', isLanguage);
export const enter = setting<Enter>('ubl.enter', 'auto', oneOf('send', 'break'));

// online is false where the browser knows no network and the server doesn't
// answer: a machine with nothing but loopback has no network, and may run the server.
export const online = signal(navigator.onLine);

// touch tells that the main pointer is a finger: there Enter is a line break.
export const touch = matchMedia('(pointer: coarse)').matches;

// enterSends tells what Enter does where one writes a message.
export const enterSends = computed(() => (enter.value === 'auto' ? !touch : enter.value === 'send'));

// settle applies all that and keeps it up to date.
export function settle(): void {
  const more = signal(false);
  const asks = matchMedia('(prefers-contrast: more)');
  asks.addEventListener?.('change', () => (more.value = asks.matches));
  more.value = asks.matches;
  effect(() => mark('theme', theme.value, 'auto'));
  effect(() => mark('text', size.value, '100'));
  effect(() => mark('contrast', more.value ? 'more' : contrast.value, 'auto'));
  effect(() => void speak(chosen.value === 'auto' ? preferred() : chosen.value));
  addEventListener('online', () => (online.value = true));
  addEventListener('offline', () => (online.value = false));
  onReached((answered) => (online.value = answered || navigator.onLine));
  visualViewport?.addEventListener('resize', fit);
  visualViewport?.addEventListener('scroll', fit);
  fit();
}

// setting is a value that is kept on this device, unless it is the usual one.
function setting<T extends string>(name: string, usual: T, isKnown: (value: string) => value is T): Signal<T> {
  const kept = localStorage.getItem(name) ?? '';
  const value = signal<T>(isKnown(kept) ? kept : usual);
  value.subscribe((now) => (now === usual ? localStorage.removeItem(name) : localStorage.setItem(name, now)));
  return value;
}

// mark tells the style sheets.
function mark(name: string, value: string, usual: string) {
  const { dataset } = document.documentElement;
  if (value === usual) delete dataset[name];
  else dataset[name] = value;
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
