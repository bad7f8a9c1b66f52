/** A relay without a network: a `fetch` by script, and sockets that the test moves by hand. */
import type { RelayWebSocket } from '../../../src/surfaces/relay-client/index.ts';

/** A socket that was opened. */
export interface FakeSocket extends RelayWebSocket {
  readonly url: string;
  /** Frames that were sent. */
  readonly sent: { readonly event: string; readonly data: Record<string, unknown> }[];
  readonly closed: boolean;
  /** The other end lets it open, and says that the line stands. */
  open(connected?: object): void;
  /** The other end sends a frame. */
  frame(event: string, data: unknown, id?: number): void;
  /** Anything else happens. */
  happen(type: string, event?: unknown): void;
}

export interface FakeNetwork {
  readonly WebSocket: new (url: string) => RelayWebSocket;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Newest last. */
  readonly sockets: FakeSocket[];
  /** What was fetched: method, path below the session, body. */
  readonly fetched: {
    readonly route: string;
    readonly body: Record<string, unknown>;
    readonly headers: Headers;
  }[];
  of(route: string): FakeNetwork['fetched'];
  /** Answers a route from now on; `undefined` never answers. */
  on(route: string, answer: () => Response | undefined): void;
}

export function fakeNetwork(): FakeNetwork {
  const sockets: FakeSocket[] = [];
  const fetched: { route: string; body: Record<string, unknown>; headers: Headers }[] = [];
  const routes = new Map<string, () => Response | undefined>([
    [
      'POST /register-tools',
      () => Response.json({ success: true, failedTools: [], toolsRevision: 1 }, { status: 201 }),
    ],
    ['POST /ticket', () => Response.json({ ticket: `t${sockets.length}` })],
  ]);
  class Socket implements FakeSocket {
    readonly sent: FakeSocket['sent'] = [];
    readonly url: string;
    closed = false;
    readonly #listeners: [string, (event: unknown) => void][] = [];
    constructor(url: string) {
      this.url = url;
      sockets.push(this);
    }
    addEventListener(type: string, listener: (event: object) => void): void {
      this.#listeners.push([type, listener as (event: unknown) => void]);
    }
    send(text: string): void {
      this.sent.push(JSON.parse(text) as FakeSocket['sent'][number]);
    }
    close(): void {
      this.closed = true;
    }
    happen(type: string, event: unknown = {}): void {
      for (const [wanted, listener] of this.#listeners) if (wanted === type) listener(event);
    }
    frame(event: string, data: unknown, id?: number): void {
      this.happen('message', {
        data: JSON.stringify({ event, data, ...(id === undefined ? {} : { id }) }),
      });
    }
    open(connected: object = { timestamp: new Date().toISOString(), toolsRevision: 1 }): void {
      this.happen('open');
      this.frame('connected', connected);
    }
  }
  return {
    WebSocket: Socket,
    sockets,
    fetched,
    of: (route) => fetched.filter((item) => item.route === route),
    on: (route, answer) => routes.set(route, answer),
    fetch(url, init = {}) {
      const { pathname } = new URL(url);
      const route = `${init.method} ${pathname.replace(/^.*\/api\/sessions\/[^/]*/, '')}`;
      fetched.push({
        route,
        body: JSON.parse(String(init.body ?? '{}')) as Record<string, unknown>,
        headers: new Headers(init.headers),
      });
      return new Promise((resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        try {
          const response = (routes.get(route) ?? (() => Response.json({ success: true })))();
          if (response !== undefined) resolve(response);
        } catch (error) {
          reject(error);
        }
      });
    },
  };
}
