/** Sends requests to the page's own server. */
import { parseVisible } from './visible.ts';

/**
 * The token of this page. It comes in the fragment of the address, which no server and no log sees.
 * From there it moves to the storage of this tab, so that the address can be shown to others.
 * @param kept the name under which it is stored: pages of one origin share the storage of a tab
 */
export function takeToken(kept: string): string {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    sessionStorage.setItem(kept, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return given ?? sessionStorage.getItem(kept) ?? '';
}

/** The server's message instead of an answer. */
export class Refused extends Error {
  readonly status: number;
  /** What is wrong with a value that was sent. */
  readonly issues: readonly Issue[];
  /** Whether what was asked about is no longer there. */
  readonly over: boolean;
  constructor(
    status: number,
    message: string,
    { issues = [], over = status === 404 }: { issues?: readonly Issue[]; over?: boolean } = {},
  ) {
    super(message);
    this.status = status;
    this.issues = issues;
    this.over = over;
  }
}

/** Something that is wrong at a dotted path. */
interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Sends a request below `api/`. Rejects with {@link Refused}. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(`api/${path}`, init).catch(() => {
    throw new Refused(0, 'The server does not answer.');
  });
  if (response.ok) return response;
  // Only for requests that must not follow a redirect to a login page.
  if (response.type === 'opaqueredirect') throw new Refused(401, 'Sign in first.');
  const told = await response
    .text()
    .then(parseVisible, () => undefined)
    .catch(() => undefined);
  const { error, ...more } = (told ?? {}) as {
    error?: string;
    issues?: readonly Issue[];
    over?: boolean;
  };
  throw new Refused(response.status, error ?? `The server answered ${response.status}.`, more);
}

/** Requests something below `api/` with a token. Rejects with {@link Refused}. */
export function request(
  token: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Response> {
  return send(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Requests JSON below `api/`. Rejects with {@link Refused}. */
export async function ask<T>(
  token: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<T> {
  return parseVisible(await (await request(token, path, body, signal)).text()) as T;
}

/** Passes on each line of a stream as JSON. Resolves at the end of the stream. */
export async function readLines(response: Response, take: (line: unknown) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(parseVisible(line));
  }
}
