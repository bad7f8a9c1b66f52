/**
 * The only way of a sandboxed agent to the network: a proxy outside of the sandbox, which connects
 * to the hosts of a list. Names are looked up here.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Server, type Socket } from 'node:net';
import { canonicalHost, type HostPattern } from '../../surfaces/config/host-pattern.ts';
import { type FindAddresses, Refusal, reachableAddress } from './reachable-address.ts';

/** The proxy of one sandbox. */
export interface GuardProxy {
  /** Answers the connections of a server in the sandbox. */
  serve(server: Server): void;
  /** Passes the connections of a server in the sandbox on to this address and port. */
  pass(server: Server, address: string, port: number): void;
  /** The connections that were refused, as `host:port`, with how many there were. */
  readonly refused: ReadonlyMap<string, number>;
  close(): void;
}

/** Most different hosts that are remembered as refused. */
const maxRefused = 100;

/**
 * @param find Looks a name up. @default by the system
 */
export function createGuardProxy(hosts: readonly HostPattern[], find?: FindAddresses): GuardProxy {
  const refused = new Map<string, number>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const addressOf = (host: string, port: number): Promise<string> =>
    reachableAddress(hosts, host, port, find).catch((error: unknown) => {
      const name = `${canonicalHost(host) ?? '?'}:${port}`;
      const isRefused = error instanceof Refusal && error.status === 403;
      if (isRefused && (refused.has(name) || refused.size < maxRefused))
        refused.set(name, (refused.get(name) ?? 0) + 1);
      throw error;
    });
  const server = createServer((asked, response) => {
    forward(asked, response, addressOf).catch((error: unknown) => {
      const [status, text] = answerOf(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
    });
  });
  // An answer of a model may take long, and so may an upload.
  server.requestTimeout = 0;
  server.on('connect', (asked, socket: Socket, head: Buffer) => {
    tunnel(asked, keep(socket), head, addressOf, keep).catch((error: unknown) => {
      const [status, text] = answerOf(error);
      socket.end(
        [`HTTP/1.1 ${status} Refused`, 'content-type: text/plain', 'connection: close', '', text]
          .join('\r\n')
          .concat('\r\n'),
      );
    });
  });
  server.on('clientError', (_, socket) => socket.destroy());
  return {
    refused,
    serve(inside) {
      inside.on('connection', (socket) => server.emit('connection', keep(socket)));
    },
    pass(inside, address, port) {
      // By its name, it is tried in both families.
      const host = address === '127.0.0.1' ? 'localhost' : address;
      inside.on('connection', (socket) => {
        const out = keep(connect({ host, port, allowHalfOpen: true }));
        join(keep(socket), out);
      });
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type Look = (host: string, port: number) => Promise<string>;

function answerOf(error: unknown): readonly [number, string] {
  return error instanceof Refusal
    ? [error.status, error.message]
    : [502, 'host-tools guard: the host could not be reached.'];
}

/** Reads `host:port`. @throws Refusal */
async function tunnel(
  { url = '' }: IncomingMessage,
  socket: Socket,
  head: Buffer,
  addressOf: Look,
  keep: (socket: Socket) => Socket,
): Promise<void> {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(url) ?? [];
  if (host === undefined) throw new Refusal(400, 'host-tools guard: expected host:port.');
  const address = await addressOf(host, Number(port));
  const out = keep(connect({ host: address, port: Number(port), allowHalfOpen: true }));
  await new Promise<void>((resolve, reject) => {
    out.once('connect', resolve);
    out.once('error', reject);
  });
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  out.write(head);
  join(socket, out);
}

function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  one.on('close', () => other.destroy());
  other.on('close', () => one.destroy());
}

/** Headers that are about one connection. Node sends its own. */
const ofConnection =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host)$/;

/** Passes on a request in plain HTTP. @throws Refusal */
async function forward(
  asked: IncomingMessage,
  response: ServerResponse,
  addressOf: Look,
): Promise<void> {
  const { url = '', method, rawHeaders } = asked;
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target?.protocol !== 'http:')
    throw new Refusal(400, 'host-tools guard: this is a proxy; expected the whole http address.');
  const port = Number(target.port || 80);
  const address = await addressOf(target.hostname, port);
  // The host that was checked is the one that the server is asked for.
  const headers: string[] = ['host', target.host];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!ofConnection.test(name.toLowerCase())) headers.push(name, value);
  }
  if (asked.headers['transfer-encoding'] !== undefined)
    headers.push('transfer-encoding', 'chunked');
  await new Promise<void>((resolve, reject) => {
    const path = `${target.pathname}${target.search}`;
    const out = request({ host: address, port, path, method, headers }, (found) => {
      response.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(response);
      found.on('end', resolve);
      found.on('error', reject);
    });
    out.on('error', reject);
    response.on('close', () => out.destroy());
    asked.pipe(out);
  });
}
