/** The members of a relay that only `serveRelay` may use. */
import type { Answered } from '../http/reply.ts';
import type { SocketPort } from './socket-port.ts';

/** A relay as `serveRelay` sees it. */
export interface ServerPort {
  /** Like `fetch`, but does not convert an answer whose text is known to a Response. */
  answered(request: Request, info: { readonly address?: string }): Promise<Answered>;
  readonly sockets: SocketPort;
}

const ports = new WeakMap<object, ServerPort>();

/** Attaches the port to a relay. Only `createRelay` calls it. */
export function giveServerPort(relay: object, port: ServerPort): void {
  ports.set(relay, port);
}

/** The port of a relay that `createRelay` has made; undefined for anything else. */
export function serverPortOf(relay: object): ServerPort | undefined {
  return ports.get(relay);
}
