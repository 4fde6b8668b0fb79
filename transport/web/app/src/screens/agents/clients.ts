// clients.ts fills in what an MCP client is told of this server. The table is clients.json,
// which the command line and the README use as well; package web reads it in Go.

import table from './clients.json';

export interface Client {
  id: string;
  label: string;
  token: Snippet; // with the agent's own token in it
  sign_in: Snippet; // with the address alone: the client opens a browser
}

interface Snippet {
  where: string;
  form: string; // shell, json, toml or text
  text: string[]; // lines, with {url}, {token} and {allow_http}
  link?: { start: string; as: string; config: object };
}

export interface Filled {
  where: string;
  text: string;
  link: string | null; // installs it with one press, null where the client has no such link
}

export const clients: readonly Client[] = table;

// endpoint is where agents find our tools, and those of the other servers that an
// owner has added.
export const endpoint = (origin: string) => `${origin}/portal/mcp`;

// bearer is a service token as one string, as auth.ServiceBearer makes it.
export function bearer(client_id: string, client_secret: string): string {
  const dot = client_id.indexOf('.');
  return `ubl_${client_id.slice(0, dot)}_${client_secret}_${client_id.slice(dot + 1).replace(/^t:/, '')}`;
}

// fill puts an address and a token into a snippet, as Snippet.Fill does in Go.
export function fill({ where, text, link }: Snippet, url: string, token: string): Filled {
  const values: Record<string, string> = { '{url}': url, '{token}': token, '{allow_http}': url.startsWith('http:') ? '"--allow-http", ' : '' };
  const put = (s: string) => s.replace(/\{(url|token|allow_http)\}/g, (name) => values[name]!);
  return { where, text: put(text.join('\n')), link: link ? link.start + encoded(put(JSON.stringify(link.config)), link.as) : null };
}

const encoded = (config: string, as: string) => escape(as === 'base64' ? btoa(config) : config);

// escape escapes what Go's url.QueryEscape does.
const escape = (s: string) => encodeURIComponent(s).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
