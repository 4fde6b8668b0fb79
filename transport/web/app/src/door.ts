// door.ts reads a link that somebody was given to come in: an app on a home screen has no
// bar for addresses, and what is opened from a letter opens in a browser beside it.

// doorOf is the path of a sign-in link or an invitation of this server. It fails with
// words for whoever pasted something else.
export function doorOf(pasted: string, origin: string): string {
  const url = parse(pasted.trim(), origin);
  if (!url) throw new Error('that isn’t a link');
  if (url.origin !== origin) throw new Error('that link is for another address than this one');
  if (!/^\/(signin|invite)\/[^/]+$/.test(url.pathname)) throw new Error('that is neither a sign-in link nor an invitation');
  return url.pathname;
}

// parse also takes what programs leave of a link: without its scheme, or its host.
function parse(text: string, origin: string): URL | null {
  const scheme = /^([a-z]+:\/)?\//i.test(text) ? '' : `${new URL(origin).protocol}//`;
  try {
    return new URL(scheme + text, origin);
  } catch {
    return null;
  }
}
