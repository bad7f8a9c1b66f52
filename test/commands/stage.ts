/** Runs printed command lines as a reader does: in a shell, in a folder, with the registry of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { cleanEnvironment, npm } from '../compat/exec.ts';

/** How a command ended, or that it was ready and was ended. */
export interface Ran {
  readonly exit: number | 'ready';
  /** Both outputs, in the order in which they came. */
  readonly said: string;
}

/** A folder with a home of its own, in which commands run one after the other. */
export interface Place {
  readonly folder: string;
  readonly home: string;
  /** The folder that the last line has left. */
  cwd(): string;
  /** Writes files, relative to the folder. */
  write(files: Readonly<Record<string, string>>): void;
  /**
   * Runs a line in the folder that the line before has left.
   * @param until what the output of a program that goes on says when it is ready; it is ended then
   * @param input what it reads; without it, its input is empty
   */
  run(line: string, until?: RegExp, input?: string): Promise<Ran>;
}

/** What all places share. */
export interface Stage {
  place(): Place;
  close(): void;
}

/** @param registry address of the registry that has the packed package */
export async function openStage(work: string, registry: string): Promise<Stage> {
  const running = new Set<ChildProcess>();
  const [cache, userconfig] = (
    await Promise.all(['cache', 'userconfig'].map((name) => npm(work, 'config', 'get', name)))
  ).map((text) => text.trim()) as [string, string];
  // `npx` keeps packages by their names, and must not find those of another run.
  const ownCache = join(work, 'cache');
  mkdirSync(join(cache, '_cacache'), { recursive: true });
  mkdirSync(ownCache);
  symlinkSync(join(cache, '_cacache'), join(ownCache, '_cacache'), 'junction');
  const programs = join(work, 'programs');
  mkdirSync(programs);
  // A coding agent that only says that it runs.
  writeFileSync(join(programs, 'claude'), '#!/bin/sh\necho "the agent runs: $*"\n', {
    mode: 0o755,
  });
  const env = {
    ...cleanEnvironment(),
    PATH: [programs, process.env.PATH].join(delimiter),
    npm_config_registry: registry,
    npm_config_cache: ownCache,
    npm_config_userconfig: userconfig,
    npm_config_prefer_offline: 'true',
    // Of a large package only what every machine gets.
    npm_config_omit: 'optional',
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    // The answer to the question of `npx` whether it may install a package.
    npm_config_yes: 'true',
    NO_COLOR: '1',
  };
  let count = 0;
  return {
    place() {
      count += 1;
      const home = join(work, `home-${count}`);
      const folder = join(work, `place-${count}`, 'reader');
      for (const one of [home, folder]) mkdirSync(one, { recursive: true });
      let cwd = folder;
      return {
        folder,
        home,
        cwd: () => cwd,
        write(files) {
          for (const [path, text] of Object.entries(files)) {
            const at = join(folder, path);
            mkdirSync(dirname(at), { recursive: true });
            writeFileSync(at, text);
          }
        },
        async run(line, until, input) {
          const left = join(home, '.left');
          const script = `trap 'pwd > "$LEFT"' EXIT\n${line}`;
          const child = spawn('bash', ['-c', script], {
            cwd,
            env: {
              ...env,
              HOME: home,
              LEFT: left,
              npm_config_prefix: join(home, 'global'),
              PATH: [join(home, 'global/bin'), env.PATH].join(delimiter),
            },
            // A group of its own, which is ended as a whole.
            detached: true,
          });
          running.add(child);
          child.stdin.on('error', () => {});
          if (input === undefined) child.stdin.end();
          else child.stdin.write(input);
          const ran = await ended(child, until);
          running.delete(child);
          cwd = readFileSync(left, 'utf8').trim();
          rmSync(left);
          return ran;
        },
      };
    },
    close() {
      for (const child of running) end(child, 'SIGKILL');
    },
  };
}

function ended(child: ChildProcess, until: RegExp | undefined): Promise<Ran> {
  let said = '';
  let isReady = false;
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (isReady || until?.test(said) !== true) return;
      isReady = true;
      end(child, 'SIGTERM');
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ exit: isReady ? 'ready' : (code ?? 128), said }));
  });
}

function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended by itself.
  }
}
