/**
 * What a browser loads: the page, the relay's client as one module, and the session that the page
 * is for.
 */
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
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
const clientEntry = new URL('../../src/relay-client/index.ts', import.meta.url);

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

/**
 * Serves the page. @param session is given to whoever loads the page: here, to anybody on this
 * machine
 */
export async function pageListener(session: () => PageSession): Promise<RequestListener> {
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
