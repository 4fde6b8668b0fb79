// door.ts reads a link that somebody was given to come in: an app on a home screen has no
// bar for addresses, and what is opened from a letter opens in a browser beside it.

import { t } from './words';

// doorOf is the path of a sign-in link or an invitation of this server. It fails with
// words for those who pasted something else.
export const doorOf = (pasted: string, origin: string) => pathOf(pasted, origin, /^\/(signin|invite)\/[^/]+$/, t('door.other'));

// confirmationOf is the path of a link that confirms who one is, as doorOf is of others.
export const confirmationOf = (pasted: string, origin: string) => pathOf(pasted, origin, /^\/auth\/confirm\/link\/[0-9a-f]+$/, t('door.otherconfirm'));

function pathOf(pasted: string, origin: string, wanted: RegExp, otherwise: string): string {
  const url = parse(pasted.trim(), origin);
  if (!url) throw new Error(t('door.notalink'));
  if (!wanted.test(url.pathname)) throw new Error(otherwise);
  // A server that nobody told its address prints links for its own machine.
  if (url.origin !== origin && !isLocal(url)) throw new Error(t('door.elsewhere'));
  return url.pathname;
}

// isLocal tells that a link leads to the machine that it is opened on.
export const isLocal = ({ protocol, hostname }: URL) => /^https?:$/.test(protocol) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

// parse also takes what programs leave of a link: without its scheme, or its host.
function parse(text: string, origin: string): URL | null {
  const scheme = /^([a-z]+:\/)?\//i.test(text) ? '' : `${new URL(origin).protocol}//`;
  try {
    return new URL(scheme + text, origin);
  } catch {
    return null;
  }
}
