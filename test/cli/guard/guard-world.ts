/** A home, a project and the published command, for tests of `guard`. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

/** Why there is no sandbox here; undefined if there is one. */
export const noSandbox: string | undefined = (() => {
  try {
    execFileSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return String(error).slice(0, 200);
  }
})();

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GuardWorld {
  readonly home: string;
  at(path: string): string;
  read(path: string): string | undefined;
  write(path: string, text: string): void;
  /** Runs `host-tools guard` with these words in the project. */
  guard(words: readonly string[], setup?: Setup): Running;
  /** Runs a script of `bash` in the sandbox. */
  bash(script: string, setup?: Setup): Promise<Ended>;
}

interface Setup {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** The user who runs it, if this process may choose. @default that of this process */
  readonly uid?: number | undefined;
  /** Called with all of standard output so far. */
  readonly onStdout?: (text: string, running: Running) => void;
}

export interface Running {
  kill(name: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** @param built the folder of the built command */
export function guardWorld(built: string): GuardWorld {
  const home = mkdtempSync(join(built, 'home-'));
  // Another user may run it.
  for (const folder of [built, home]) chmodSync(folder, 0o755);
  const at = (path: string): string => join(home, path);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  write('rules.yaml', 'network: []\nrules: []\n');
  write('project/.git/config', '[core]\n\tbare = false\n');
  write('project/.git/hooks/pre-commit', '#!/bin/sh\n');
  write('project/.git/HEAD', 'ref: refs/heads/main\n');
  const guard = (
    words: readonly string[],
    { env = {}, cwd = at('project'), stdin, uid, onStdout }: Setup = {},
  ) => {
    const child = spawn(process.execPath, [join(built, 'cli.js'), 'guard', ...words], {
      cwd,
      env: { PATH: process.env.PATH, HOME: home, ...env },
      // Out of the group of this terminal, whose signals the command would get by itself.
      detached: true,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    let [stdout, stderr] = ['', ''];
    const running: Running = {
      kill: (name) => void child.kill(name),
      ended: new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (exit) => resolve({ exit, stdout, stderr }));
      }),
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onStdout?.(stdout, running);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin ?? '');
    return running;
  };
  return {
    ...{ home, at, write, guard },
    read: (path) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined),
    bash: (script, setup) =>
      guard(['--host-tools', at('rules.yaml'), '--', 'bash', '-c', script], setup).ended,
  };
}

/** A server of this machine that answers `reached`. */
export async function startServer() {
  const server = createServer((_, response) => response.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
