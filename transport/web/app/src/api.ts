// Requests to the server that the page came from. Everything that goes wrong is
// an ApiError with a code of the server's table; a server that can't be reached
// has the code "offline", where a repetition under the same key is safe.

import type { Answered, ErrorCode } from './types';

export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly status: number,
    // retryAfter is in seconds; undefined where waiting doesn't help.
    readonly retryAfter?: number,
    readonly details: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
  }

  // mayRetry tells whether the same request may succeed later, unchanged.
  get mayRetry(): boolean {
    return this.code === 'offline' || this.status === 429 || (this.status >= 500 && this.code !== 'quota_exceeded');
  }
}

export interface Options {
  // quiet requests matter to nobody who waits: that the session is over is told by the next other one.
  quiet?: boolean;
  signal?: AbortSignal;
  // key makes a repetition of a write answer the first one's outcome. It is the id of
  // the request too, so that the receipt names it.
  key?: string;
  // timeout is in milliseconds.
  timeout?: number;
  // file has the answer be a Blob, however long it takes.
  file?: boolean;
  // as is whom the request is for, as personID says it: null for whoever the cookie is of.
  // Unless it is given, it is whom the page acts for.
  as?: string | null;
}

const defaultTimeout = 30_000;
const longest = 2 ** 31 - 1; // that a timer takes, in ms

// A body of null is none, which the few operations insist on that take none.
export const get = <T>(url: string, o?: Options) => call<T>('GET', url, null, o);
export const head = (url: string, o?: Options) => call('HEAD', url, null, o);
export const post = <T>(url: string, body: unknown = {}, o?: Options) => call<T>('POST', url, body, o);
export const patch = <T>(url: string, body: unknown, o?: Options) => call<T>('PATCH', url, body, o);
export const put = <T>(url: string, body: unknown, o?: Options) => call<T>('PUT', url, body, o);
export const del = <T>(url: string, o?: Options) => call<T>('DELETE', url, null, o);

// at is a URL with each value as one element of its path: at`/api/rooms/${id}/history`.
// Colons stay as they are: the server takes ids literally.
export function at(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return parts.reduce((url, part, i) => url + encodeURIComponent(values[i - 1]!).replaceAll('%3A', ':') + part);
}

// query is "?a=1&b=2" of what is given, "" of nothing.
export function query(values: Record<string, string | number | boolean | null | undefined>): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') q.set(name, String(value));
  }
  const text = q.toString();
  return text && `?${text}`;
}

// newKey draws an idempotency key. crypto.randomUUID is missing on plain http.
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

// personID names a person as the server reads it. A browser has one cookie for all tabs, so
// that somebody else may sign in in another tab: by the name, the server refuses what
// was meant for the first.
export const personID = (who: { tenant_id: string; user_id: string }) => `${who.tenant_id}|${who.user_id}`;

// headersOf are those that name a person.
export const headersOf = (as: string | null): Record<string, string> => (as === null ? {} : { 'X-UBL-As': as });

let acting: string | null = null;

// actAs sets whom the page acts for, null while that isn't known.
export function actAs(as: string | null): void {
  acting = as;
}

const unauthorized = new Set<() => void>();

// onUnauthorized calls f whenever the server refuses to act for the person whom a
// request named: the session is over, or is somebody else's now.
export function onUnauthorized(f: () => void): () => void {
  unauthorized.add(f);
  return () => unauthorized.delete(f);
}

let reached = (_: boolean) => {};

// onReached calls f after each request: true where the server answered, whatever it said.
export function onReached(f: (answered: boolean) => void): void {
  reached = f;
}

let confirm: (() => Promise<boolean>) | null = null;

// onConfirmation has f ask the person to prove once more who they are, whenever the
// server wants that before it does something. It tells whether they did.
export function onConfirmation(f: () => Promise<boolean>): void {
  confirm = f;
}

// call sends a request, and once more where the person has to confirm first that it is
// them: the server has done nothing of it then.
async function call<T>(method: string, url: string, body: unknown, o: Options = {}): Promise<T & Answered> {
  try {
    return await once<T>(method, url, body, o);
  } catch (problem) {
    const asked = problem instanceof ApiError && problem.code === 'confirmation_required';
    if (!asked || !confirm || !(await confirm()) || o.signal?.aborted) throw problem;
    return once<T>(method, url, body, o);
  }
}

async function once<T>(method: string, url: string, body: unknown, o: Options): Promise<T & Answered> {
  const { as = acting } = o;
  const headers: Record<string, string> = { Accept: 'application/json', ...headersOf(as) };
  if (body !== null) headers['Content-Type'] = 'application/json';
  if (o.key) headers['Idempotency-Key'] = headers['X-Request-Id'] = o.key;
  const limit = new Limit(o);
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: body === null ? undefined : JSON.stringify(body),
      signal: limit.signal,
      credentials: 'same-origin',
      redirect: 'error',
      cache: 'no-store',
    });
    reached(true);
    const answer = response.status === 204 ? undefined : o.file && response.ok ? await response.blob() : await response.json().catch(() => undefined);
    if (response.status === 401 && as !== null && !o.quiet) unauthorized.forEach((f) => f());
    if (!response.ok) throw refused(response, answer);
    return answer as T & Answered;
  } catch (problem) {
    if (problem instanceof ApiError || o.signal?.aborted) throw problem;
    reached(false);
    throw unreachable();
  } finally {
    limit.end();
  }
}

// unreachable is what a request ends with that no server has answered.
export const unreachable = () => new ApiError('offline', 'The server can’t be reached', 0);

function refused(response: Response, answer: unknown): ApiError {
  const said = (answer as { error?: { code?: ErrorCode; message?: string; details?: Record<string, string> } } | undefined)?.error;
  const wait = Number(response.headers.get('Retry-After') ?? NaN);
  return new ApiError(
    said?.code ?? (response.status >= 500 ? 'unavailable' : 'validation_error'),
    said?.message ?? `The server answered ${response.status}`,
    response.status,
    Number.isFinite(wait) ? wait : undefined,
    said?.details,
  );
}

// Limit ends a request when its caller does, or when time is up.
class Limit {
  private readonly controller = new AbortController();
  private readonly timer: ReturnType<typeof setTimeout>;
  private readonly abort = () => this.controller.abort();

  constructor(private readonly o: Options) {
    this.timer = setTimeout(this.abort, o.file ? longest : (o.timeout ?? defaultTimeout));
    if (o.signal?.aborted) this.abort();
    o.signal?.addEventListener('abort', this.abort);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  end() {
    clearTimeout(this.timer);
    this.o.signal?.removeEventListener('abort', this.abort);
  }
}
