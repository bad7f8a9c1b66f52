/**
 * Nodes and applications of a relay as real processes, which can be killed, and an address that
 * leads to whichever node is meant to be there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { program } from '../../../runner/programs.ts';
import type { StorePlace } from './shared-stores.ts';

/** What a node is started with, of the options of `serveRelay`. */
export interface NodeOptions {
  readonly leaseMs?: number;
  readonly heartbeatMs?: number;
  readonly requestTimeoutMs?: number;
}

/** A line of an application's ledger. */
export interface LedgerLine {
  readonly event: 'started' | 'finished';
  readonly id: string;
  /** The process that ran it. */
  readonly instance: string;
  readonly attempt: number;
  /** Milliseconds after the deadline, by the application's clock. */
  readonly lateMs?: number;
}

/** A process that a test has started. */
export interface Running {
  /** The first line that it printed. */
  readonly line: string;
  readonly alive: boolean;
  /** Resolves when it is gone. */
  kill(): Promise<void>;
  /** Stops it as it stands, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
}

const children = new Set<ChildProcess>();

/** Resolves when the script has printed its first line. */
async function run(script: Parameters<typeof program>[0], given: object): Promise<Running> {
  const child = spawn(process.execPath, [program(script), JSON.stringify(given)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.add(child);
  child.stdin?.on('error', () => {});
  let said = '';
  child.stderr?.on('data', (data) => {
    said += data;
  });
  const gone = once(child, 'exit');
  const line = await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data').then(([data]) => String(data).trim()),
    gone.then(() => Promise.reject(new Error(`${script} ended before it had begun: ${said}`))),
  ]);
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    line,
    get alive() {
      return isAlive();
    },
    async kill() {
      if (isAlive()) child.kill('SIGKILL');
      await gone;
      children.delete(child);
    },
    signal: (signal) => void child.kill(signal),
  };
}

/** A node; `line` is its URL. */
export function startNode(
  { kind, port, path }: StorePlace,
  options: NodeOptions = {},
): Promise<Running> {
  return run('test/surfaces/relay/nodes/relay-node.ts', {
    place: { kind, port, path },
    ...options,
  });
}

/** An application that is registered and connected. */
export function startApplication(given: {
  readonly url: string;
  readonly code: string;
  readonly token: string;
  readonly ledger: string;
  readonly instance: string;
  readonly transport: 'websocket' | 'sse' | 'poll';
}): Promise<Running> {
  return run('test/surfaces/relay/nodes/relay-application.ts', given);
}

/** Kills what is left. */
export async function killAll(): Promise<void> {
  await Promise.all(
    [...children].map(async (child) => {
      children.delete(child);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }),
  );
}

/** An address of its own, as a load balancer has one. */
export interface Forwarder {
  readonly url: string;
  /** Cuts what is open; what comes next goes there. Undefined: nowhere. */
  lead(to: string | undefined): void;
  close(): Promise<void>;
}

/** Passes bytes on to a node, and cuts both ends when one of them goes. */
export async function startForwarder(to: string): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  let target: string | undefined = to;
  const server = createServer((near) => {
    if (target === undefined) return void near.destroy();
    const far = connect(Number(new URL(target).port), '127.0.0.1');
    const cut = (): void => {
      near.destroy();
      far.destroy();
      sockets.delete(near);
    };
    sockets.add(near);
    for (const socket of [near, far]) socket.on('error', cut).on('close', cut);
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(next) {
      target = next;
      cutAll();
    },
    async close() {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
