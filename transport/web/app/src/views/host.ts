// host.ts is a view's side of MCP Apps (SEP-1865, 2026-01-26): JSON-RPC with the client that shows
// the page, by postMessage. A view asks nobody else for anything: it has no network.

import { clear, el, said } from './page';

// Result is a tool's result, as the client passes it on.
export interface Result {
  isError?: boolean;
  structuredContent?: unknown;
  content?: { type: string; text?: string }[];
}

// Host is the client around the page.
export interface Host {
  // args are what the tool was called with that the page shows.
  readonly args: Readonly<Record<string, unknown>>;
  // uses tells whether the client lets the page use tools of the server.
  readonly uses: boolean;
  // use uses a tool, with the rights of the agent whose client it is.
  use<T>(tool: string, args: Record<string, unknown>): Promise<T>;
}

interface Context {
  theme?: 'light' | 'dark';
  styles?: { variables?: Record<string, string | undefined> };
  toolInfo?: { tool?: { name?: string } };
}

interface Message {
  jsonrpc: '2.0';
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message?: string };
}

const protocolVersion = '2026-01-26';
const noMethod = -32601;

// start shakes hands with the client, and has show draw each result that it passes on. What show
// throws is told on the page.
export function start(name: string, show: (data: unknown, host: Host) => void | Promise<void>): void {
  const client = window.parent;
  const waiting = new Map<number, { done: (result: unknown) => void; failed: (problem: Error) => void }>();
  let last = 0;
  let args: Record<string, unknown> = {};
  let uses = false;
  let plain = false; // the client knows tools by names without dots

  const send = (message: Omit<Message, 'jsonrpc'>) => client.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const ask = (method: string, params: Record<string, unknown>) =>
    new Promise<unknown>((done, failed) => {
      waiting.set(++last, { done, failed });
      send({ id: last, method, params });
    });

  const host: Host = {
    get args() {
      return args;
    },
    get uses() {
      return uses;
    },
    async use<T>(tool: string, given: Record<string, unknown>) {
      return dataOf((await ask('tools/call', { name: plain ? tool.replaceAll('.', '_') : tool, arguments: given })) as Result) as T;
    },
  };

  const take = (context: Context = {}) => {
    if (context.theme) document.documentElement.style.colorScheme = context.theme;
    for (const [variable, value] of Object.entries(context.styles?.variables ?? {})) {
      if (variable.startsWith('--') && value !== undefined) document.documentElement.style.setProperty(variable, value);
    }
    const tool = context.toolInfo?.tool?.name;
    if (tool) plain = !tool.includes('.');
  };

  const draw = async (result: Result) => {
    try {
      await show(dataOf(result), host);
    } catch (problem) {
      clear(document.body, el('p', { class: 'problem', role: 'alert' }, said(problem)));
    }
  };

  const notices: Record<string, (params: Record<string, unknown>) => void> = {
    'ui/notifications/tool-input': (params) => void (args = (params.arguments ?? {}) as Record<string, unknown>),
    'ui/notifications/tool-result': (params) => void draw(params as Result),
    'ui/notifications/tool-cancelled': () => clear(document.body, el('p', {}, 'The call was cancelled.')),
    'ui/notifications/host-context-changed': (params) => take(params as Context),
  };

  window.addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    if (source !== client || data?.jsonrpc !== '2.0') return;
    if (data.method === undefined) {
      const asked = waiting.get(Number(data.id));
      waiting.delete(Number(data.id));
      if (data.error) asked?.failed(new Error(data.error.message || 'the client refused'));
      else asked?.done(data.result);
    } else if (data.id === undefined) {
      notices[data.method]?.(data.params ?? {});
    } else if (data.method === 'ping' || data.method === 'ui/resource-teardown') {
      send({ id: data.id, result: {} });
    } else {
      send({ id: data.id, error: { code: noMethod, message: 'the page has no such method' } });
    }
  });

  void ask('ui/initialize', { protocolVersion, appInfo: { name, version: '1' }, appCapabilities: { availableDisplayModes: ['inline'] } }).then((answer) => {
    const { hostCapabilities, hostContext } = answer as { hostCapabilities?: { serverTools?: object }; hostContext?: Context };
    uses = hostCapabilities?.serverTools !== undefined;
    take(hostContext);
    send({ method: 'ui/notifications/initialized', params: {} });
    new ResizeObserver(() => {
      const { width, height } = document.documentElement.getBoundingClientRect();
      send({ method: 'ui/notifications/size-changed', params: { width: Math.ceil(width), height: Math.ceil(height) } });
    }).observe(document.documentElement);
  });
}

// dataOf is what a result has for programs. An error is thrown in the words of the tool.
function dataOf(result: Result): unknown {
  const text = result.content?.find((part) => part.type === 'text')?.text ?? '';
  if (result.isError) throw new Error(text || 'the call failed');
  if (result.structuredContent !== undefined) return result.structuredContent;
  try {
    return JSON.parse(text); // clients may pass on the text alone
  } catch {
    throw new Error('the result has nothing to show');
  }
}
