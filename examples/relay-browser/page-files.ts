/**
 * What a browser loads: the page, the relay's client as one module, and the session that the page
 * is for.
 */
import { readFile } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** What the page connects with. */
export interface PageSession {
  /** The relay; `/` is where the page came from. */
  readonly url: string;
  readonly code: string;
  /** Of the application's side: the page executes the tools. */
  readonly token: string;
}

const page = (name: string): Promise<Buffer> => readFile(new URL(`page/${name}`, import.meta.url));

/**
 * From this repository. An application that has the package installed gives
 * `import.meta.resolve('host-tools/relay/client')`, or leaves it to its own bundler.
 */
const clientEntry = new URL('../../src/surfaces/relay-client/index.ts', import.meta.url);

async function clientModule(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(clientEntry)],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('The client could not be bundled.');
  return file.contents;
}

function json(response: ServerResponse, value: unknown): void {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  response.writeHead(200, headers).end(JSON.stringify(value));
}

/**
 * Serves the page. What the session is, is told to whoever loads the page: here, to anybody on this
 * machine.
 * @param session the present one
 * @param next the one to go on with when the present one is over @default the present one
 */
export async function pageListener(
  session: () => PageSession,
  next: () => Promise<PageSession> = async () => session(),
): Promise<RequestListener> {
  const files = new Map<string, readonly [type: string, body: Uint8Array]>([
    ['/', ['text/html; charset=utf-8', await page('index.html')]],
    ['/page.css', ['text/css', await page('page.css')]],
    ['/page.js', ['text/javascript', await page('page.js')]],
    ['/relay-client.js', ['text/javascript', await clientModule()]],
  ]);
  return (request, response) => {
    // A foreign name that points to this machine would make a foreign page one of ours, and the
    // session is to be read by ours alone.
    if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(request.headers.host ?? ''))
      return void response.writeHead(403).end();
    const [pathname = '/'] = request.url?.split('?') ?? [];
    if (pathname === '/session' && request.method === 'POST') {
      // No form of another page can send this type.
      if (request.headers['content-type'] !== 'application/json')
        return void response.writeHead(415).end();
      return void next().then(
        (made) => json(response, made),
        () => response.writeHead(503).end(),
      );
    }
    const [type, body] =
      pathname === '/session'
        ? ['application/json', JSON.stringify(session())]
        : (files.get(pathname) ?? []);
    if (type === undefined || request.method !== 'GET') return void response.writeHead(404).end();
    const headers = {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'Content-Security-Policy':
        "script-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
    };
    response.writeHead(200, headers).end(body);
  };
}
