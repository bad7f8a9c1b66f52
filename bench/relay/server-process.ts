/**
 * Starts servers, each in its own process. `BENCH_PROFILE=folder` has them write CPU profiles
 * there.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * What a server is. `lazy` and `whole` are the relay over `memory` on a bare `node:http` server, by
 * lazy requests as `serveRelay` makes them, or by real ones. `limited` has the limits of each
 * session that a relay has by default.
 */
export type ServerKind =
  | 'echo'
  | 'memory'
  | 'limited'
  | 'lazy'
  | 'whole'
  | { readonly redisPort: number };
/** `cpu` answers at once; `usage` collects garbage first. */
export type Asked = 'cpu' | 'usage' | 'close';

/** What a server has used. */
export interface Told {
  /** Microseconds of all its threads since it started. */
  readonly cpuUs: number;
  /** Bytes, after collection. */
  readonly heap: number;
  readonly external: number;
  readonly rss: number;
}

export interface ServerProcess {
  readonly port: number;
  ask(asked: 'cpu' | 'usage'): Promise<Told>;
  close(): Promise<void>;
}

/** Where the built files are: this one is bundled into one of them. */
const serveFile = fileURLToPath(new URL('./serve.js', import.meta.url));

export async function startServer(kind: ServerKind): Promise<ServerProcess> {
  const { BENCH_PROFILE: folder } = process.env;
  const profiling =
    folder === undefined
      ? []
      : [
          '--cpu-prof',
          `--cpu-prof-dir=${folder}`,
          `--cpu-prof-name=${typeof kind === 'string' ? kind : 'redis'}-${Date.now()}.cpuprofile`,
        ];
  const child = fork(serveFile, [JSON.stringify(kind)], {
    execArgv: ['--expose-gc', ...profiling],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`A server ended with code ${code}.`));
      child.once('exit', onExit).once('message', (message) => {
        child.off('exit', onExit);
        resolve(message as T);
      });
    });
  const port = await next<number>();
  const ask = (asked: 'cpu' | 'usage'): Promise<Told> => {
    const told = next<Told>();
    child.send(asked);
    return told;
  };
  return {
    port,
    ask,
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.send('close');
      }),
  };
}
