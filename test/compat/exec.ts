/** Runs programs to their end. */
import { execFile } from 'node:child_process';

/** The environment without what npm and a test runner added. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours =
    /^(npm_(package_|lifecycle_|command$|config_(local_prefix|package|prefix|global_prefix)$)|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$|VITEST)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

/**
 * Runs a program and returns what it wrote to standard output.
 * @throws Error with both outputs, if the exit code is not 0
 */
export function exec(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      command,
      [...args],
      {
        cwd,
        env: { ...cleanEnvironment(), ...env },
        maxBuffer: 2 ** 26,
        shell: process.platform === 'win32' && command === 'npm',
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else
          reject(
            new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`.trim(), {
              cause: error,
            }),
          );
      },
    );
  });
}

/** Runs a script on this Node. */
export function node(cwd: string, ...args: readonly string[]): Promise<string> {
  return exec(cwd, process.execPath, args);
}

/** Runs npm. */
export function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  return exec(cwd, 'npm', [...args, '--no-audit', '--no-fund']);
}
