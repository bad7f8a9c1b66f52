// Runs git and nothing else: no shell, a fixed environment instead of the host's, and no part of
// the user's or the machine's git configuration.
import { spawn } from 'node:child_process';
import { gitEnvironment, SETTINGS } from './environment.ts';

export interface GitRunOptions {
  /** The work tree; its `.git` is used as it is, and no parent folder is searched for another. */
  readonly root: string;
  /**
   * Ends git (SIGTERM first, so that it removes its lock files); the promise then rejects with the
   * signal's reason.
   */
  readonly signal?: AbortSignal;
  /** Characters of output kept; git is ended when it writes more. @default 100_000 */
  readonly maxChars?: number;
  /**
   * Where author and committer come from; only `GIT_AUTHOR_NAME`, `GIT_AUTHOR_EMAIL` and the two of
   * the committer are read.
   */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface GitRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether output was dropped at `maxChars`. */
  readonly cut: boolean;
}

const MAX_STDERR_CHARS = 4_000;
const KILL_AFTER_MS = 2_000;

/**
 * Resolves with what git said, whatever its exit code; rejects when git cannot be started or
 * `signal` fires.
 */
export function runGit(
  args: readonly string[],
  { root, signal, maxChars = 100_000, environment = {} }: GitRunOptions,
): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const flags = SETTINGS.flatMap((setting) => ['-c', setting]);
    const child = spawn('git', [...flags, ...args], {
      cwd: root,
      env: gitEnvironment(root, environment),
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: false,
      windowsHide: true,
    });
    let stdout = '';
    let stderr = '';
    let cut = false;
    let kill: NodeJS.Timeout | undefined;
    const stop = () => {
      child.kill('SIGTERM');
      kill ??= setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
      // A helper that outlives git may still hold the pipes; nobody reads them any more.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    signal?.addEventListener('abort', stop, { once: true });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (cut) return;
      stdout += text;
      cut = stdout.length > maxChars;
      if (cut) stop();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MAX_STDERR_CHARS) stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      signal?.removeEventListener('abort', stop);
      clearTimeout(kill);
      if (signal?.aborted) return reject(signal.reason);
      resolve({
        code: cut ? 0 : (code ?? 1),
        stdout: cutText(stdout, maxChars),
        stderr: stderr.slice(0, MAX_STDERR_CHARS),
        cut,
      });
    });
  });
}

/** The first `max` characters, never half of a surrogate pair. */
function cutText(text: string, max: number): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) ? max - 1 : max;
  return text.length <= max ? text : text.slice(0, end);
}
