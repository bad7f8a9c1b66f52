/** What a relay gives to a server of our own beside its public members. */
import type { Answered } from '../http/reply.ts';
import type { SocketPort } from './socket-port.ts';

/** A relay as our server sees it. */
export interface ServerPort {
  /** As `fetch`, but for answers whose text is at hand. */
  answered(request: Request, info: { readonly address?: string }): Promise<Answered>;
  readonly sockets: SocketPort;
}

const ports = new WeakMap<object, ServerPort>();

/** Called by `createRelay` for what it returns. */
export function giveServerPort(relay: object, port: ServerPort): void {
  ports.set(relay, port);
}

/** The port of what `createRelay` has returned; undefined for anything else. */
export function serverPortOf(relay: object): ServerPort | undefined {
  return ports.get(relay);
}
