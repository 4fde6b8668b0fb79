// Where the app is, as the browser's history has it. Screens link with <Link> or
// call go(); only paths under /ui/ are the app's.

import { signal } from '@preact/signals';
import type { ComponentChildren, TargetedMouseEvent } from 'preact';

export interface Place {
  path: string; // "/ui/rooms/r:general", decoded and without a slash at the end
  query: URLSearchParams;
  // moved tells that the person came here within the app, so that focus may follow.
  moved: boolean;
}

export const home = '/ui/';

export const place = signal<Place>(here(false));

// go moves to a path under /ui/, as a new entry of the history or in its place.
export function go(to: string, { replace = false } = {}): void {
  if (to === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState']({ inside: true }, '', to);
  place.value = here(true);
}

// back leaves a screen: to where one came from within the app, else to a place above.
export function back(above: string): void {
  if (history.state?.inside) history.back();
  else go(above, { replace: true });
}

addEventListener('popstate', () => (place.value = here(true)));

function here(moved: boolean): Place {
  const path = location.pathname.split('/').map(decode).join('/');
  return { path: path.length > home.length ? path.replace(/\/$/, '') : home, query: new URLSearchParams(location.search), moved };
}

// decode takes one element of a path; a broken escape stays as it is.
function decode(element: string): string {
  try {
    return decodeURIComponent(element);
  } catch {
    return element;
  }
}

export type Params = Record<string, string>;

// ScreenProps are what a screen gets: the parts of the path that its pattern names.
// It is mounted anew for each path.
export interface ScreenProps {
  params: Params;
}

// match takes a path apart after a pattern such as "/ui/rooms/:id"; null where it
// has another form.
export function match(pattern: string, path: string): Params | null {
  const want = pattern.split('/');
  const have = path.split('/');
  if (want.length !== have.length) return null;
  const params: Params = {};
  for (const [i, part] of want.entries()) {
    if (part.startsWith(':') && have[i]) params[part.slice(1)] = have[i];
    else if (part !== have[i]) return null;
  }
  return params;
}

interface LinkProps {
  to: string;
  replace?: boolean;
  class?: string;
  'aria-current'?: 'page' | 'true';
  'aria-label'?: string;
  onClick?: (e: TargetedMouseEvent<HTMLAnchorElement>) => void;
  children: ComponentChildren;
}

// Link goes to a path of the app without loading the page anew. What a browser does
// with other buttons and keys stays as it is.
export function Link({ to, replace, onClick, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={to}
      onClick={(e) => {
        onClick?.(e);
        if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
        e.preventDefault();
        go(to, { replace });
      }}
    />
  );
}
