/** Runs a command in bubblewrap: its files, its network, its terminal, its signals. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { Server } from 'node:net';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Writable } from 'node:stream';
import { failure } from '../fault.ts';
import type { GuardLayout } from './guard-layout.ts';
import type { GuardProxy } from './guard-proxy.ts';
import { isIn } from './mounts.ts';
import { terminalFilter } from './terminal-filter.ts';

/** What to run. */
export interface Sandboxed {
  readonly layout: GuardLayout;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The host's name inside. Locks in files are by process and host. */
  readonly hostname: string;
  /** Undefined if there is no network at all. */
  readonly proxy: GuardProxy | undefined;
  /** The ports of the loopback that are open inside as they are outside. */
  readonly ports: readonly { readonly address: string; readonly port: number }[];
  /** Called once the command is about to start. */
  readonly started: () => void;
}

/** A command that runs. */
export interface RunningGuard {
  /** Sends it a signal. */
  signal(name: NodeJS.Signals): void;
  /** Its exit code, or 128 and the number of the signal that ended it. @throws CliFault 1 */
  readonly ended: Promise<number>;
}

/**
 * The terminal's signals are for the command. Bubblewrap, which is in the same group of processes,
 * ignores them, and `env` sets them back.
 */
const outside = 'trap "" HUP INT QUIT TERM; exec "$@"';

/**
 * Opens the servers of the sandbox, gives them to the process outside, and becomes the command. So
 * the sandbox holds no process but the command.
 */
const inside = `
NODE_OPTIONS= "$0" -e "$1" "$2" || exit 125
shift 2
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
exec 3>&-
if /usr/bin/env --default-signal=INT true 2>/dev/null
then exec /usr/bin/env --default-signal=HUP,INT,QUIT,TERM -- "$@"
else exec "$@"
fi`;
const opener = `
const { createServer } = require('node:net');
const said = (message, server) =>
  new Promise((resolve) => process.send(message, server, () => resolve()));
const open = async ({ address, port }) => {
  const server = createServer();
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  await said({ address, port }, server);
  server.close();
};
// It ends when the process outside has taken everything, and says so.
process.channel.ref();
(async () => {
  for (const one of JSON.parse(process.argv[1]))
    await open(one).catch(({ code }) => said({ ...one, code }));
  await said({ ready: true });
})();`;

/** What the opener says. */
interface Said {
  readonly address?: string;
  readonly port?: number;
  readonly code?: string;
  readonly ready?: true;
}

/**
 * The path of bubblewrap. One that the agent may have written does not count.
 * @throws CliFault 1
 */
export function findBubblewrap(path: string, layout: GuardLayout, platform: string): string {
  const install =
    'It needs bubblewrap (`bwrap`), which exists for Linux: `apt-get install bubblewrap`, ' +
    '`dnf install bubblewrap`, `pacman -S bubblewrap` or `apk add bubblewrap`.';
  if (platform !== 'linux')
    throw failure(
      `\`guard\` has no sandbox on ${platform}, so nothing was started. ${install} Run it in a ` +
        'Linux machine or container, or in WSL 2.',
    );
  const writable = layout.mounts.filter((mount) => mount.writable);
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const program = join(folder, 'bwrap');
    // `existsSync` is also false for a folder that this user may not enter.
    if (!existsSync(program)) continue;
    const place = realpathSync(program);
    if (!writable.some((mount) => isIn(mount.path, place))) return place;
  }
  throw failure(`\`guard\` found no sandbox in \`PATH\`, so nothing was started. ${install}`);
}

/** The words after `bwrap`, up to the command. */
function wordsOf({ layout, cwd, hostname }: Sandboxed, filtered: boolean): readonly string[] {
  const words = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-net'];
  words.push('--unshare-uts', '--unshare-cgroup-try', '--hostname', hostname);
  words.push('--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/', '/');
  for (const one of layout.hidden) words.push('--perms', '1777', '--tmpfs', one);
  for (const one of layout.shown) words.push('--ro-bind', one, one);
  for (const { path, writable } of layout.mounts)
    words.push(writable ? '--bind' : '--ro-bind', path, path);
  for (const one of layout.sockets) words.push('--ro-bind', '/dev/null', one);
  words.push('--dev', '/dev', '--proc', '/proc');
  for (const one of ofSystem()) words.push('--ro-bind', one, one);
  words.push('--chdir', cwd);
  words.push(...(filtered ? ['--seccomp', '4'] : ['--new-session']), '--');
  return words;
}

/**
 * What is in `/proc` besides processes. Root could write to some of it, such as the settings of the
 * kernel, even without any capability.
 */
function ofSystem(): readonly string[] {
  return readdirSync('/proc', { withFileTypes: true })
    .filter((entry) => !/^\d+$/.test(entry.name) && !entry.isSymbolicLink())
    .map(({ name }) => `/proc/${name}`);
}

/** @param bwrap its path */
export function startSandboxed(bwrap: string, run: Sandboxed): RunningGuard {
  const filter = terminalFilter(process.arch);
  const wanted = run.proxy === undefined ? [] : [own(run), ...run.ports];
  const words = ['/bin/sh', '-c', inside, process.execPath, opener, JSON.stringify(wanted)];
  const child = spawn(
    '/bin/sh',
    [
      ...['-c', outside, 'host-tools-guard', bwrap],
      ...wordsOf(run, filter !== undefined),
      ...words,
      ...run.command,
    ],
    { env: envOf(run), stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'] },
  );
  const pipe = child.stdio[4] as Writable;
  pipe.on('error', () => {});
  pipe.end(filter ?? '');
  return {
    signal(name) {
      // The command has the id 2 in the sandbox.
      const [first = 0] = childrenOf(child.pid as number);
      const pid = childrenOf(first).find((one) => /^NSpid:.*\t2$/m.test(statusOf(one)));
      if (pid === undefined) child.kill('SIGKILL');
      else process.kill(pid, name);
    },
    ended: endOf(child, run),
  };
}

/** Where the proxy is in the sandbox. */
function own({ ports }: Sandboxed): { readonly address: string; readonly port: number } {
  let port = 41_128;
  while (ports.some((one) => one.port === port)) port++;
  return { address: '127.0.0.1', port };
}

function envOf(run: Sandboxed): Record<string, string | undefined> {
  const { address, port } = own(run);
  const env: Record<string, string | undefined> = { ...run.env, TMPDIR: '/tmp', TMP: undefined };
  for (const name of ['TEMP', 'ALL_PROXY', 'all_proxy']) env[name] = undefined;
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
  for (const name of proxies)
    env[name] = run.proxy === undefined ? undefined : `http://${address}:${port}`;
  for (const name of ['NO_PROXY', 'no_proxy']) env[name] = 'localhost,127.0.0.1,::1';
  // Node from 22.21 on follows the others only then.
  return { ...env, NODE_USE_ENV_PROXY: '1' };
}

function endOf(child: ChildProcess, run: Sandboxed): Promise<number> {
  return new Promise((resolve, reject) => {
    let first: number | undefined;
    const stop = (why: string): void => {
      child.kill('SIGKILL');
      reject(failure(why));
    };
    child.on('message', (said: Said, server: unknown) => {
      const { address = '', port = 0, code, ready } = said;
      if (code !== undefined)
        stop(
          `The port ${address}:${port} cannot be opened in the sandbox (${code}), so nothing was ` +
            'started. Take it out of `network`.',
        );
      if (server instanceof Server && port === own(run).port) run.proxy?.serve(server);
      else if (server instanceof Server) run.proxy?.pass(server, address, port);
      if (ready !== true) return;
      [first] = childrenOf(child.pid as number);
      child.disconnect();
      run.started();
    });
    child.on('error', ({ message }) => stop(`The sandbox could not be started: ${message}`));
    const ended = new Promise<number>((done) => child.on('exit', (code) => done(code ?? 137)));
    // What was said is read before that.
    const heard = new Promise<void>((done) => child.on('disconnect', done));
    void Promise.all([ended, heard]).then(async ([code]) => {
      // Bubblewrap ends a moment before what the command has left behind.
      await gone(first);
      if (first !== undefined) return resolve(code);
      reject(
        failure(
          'The sandbox could not be started, so nothing was. The lines above say why. If ' +
            'bubblewrap may not make namespaces, the system must allow them: on Ubuntu by an ' +
            'AppArmor profile for `bwrap`, in a container by its security options.',
        ),
      );
    });
  });
}

/** The processes whose parent is this one. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter(
      (name) => /^\d+$/.test(name) && /^PPid:\s*(\d+)/m.exec(statusOf(name))?.[1] === `${parent}`,
    )
    .map(Number);
}

/** Empty if it has ended. */
function statusOf(pid: number | string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

/** Waits until the first process of a sandbox has ended, which is when all others have. */
async function gone(first: number | undefined): Promise<void> {
  while (first !== undefined && /^State:\s*[^ZX\s]/m.test(statusOf(first)))
    await new Promise((resolve) => setTimeout(resolve, 5));
}
