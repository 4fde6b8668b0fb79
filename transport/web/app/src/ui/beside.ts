import { createContext } from 'preact';
import type { ComponentChildren } from 'preact';

// Beside is where a screen stands: in the middle or as a detail at its side, and the path of
// the list beside it where there is room, '' for none.
export const Beside = createContext<{ pane: 'main' | 'detail'; list: string }>({ pane: 'main', list: '' });

// Below is what stands below a screen's head, whatever the screen is.
export const Below = createContext<ComponentChildren>(null);
