/** The folder in which hook processes keep their shared state. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { messageOf } from '../../../errors/index.ts';
import { HookFault } from '../event.ts';

/** How long a file is kept after it was last written. */
const keptMs = 86_400_000;

/** Where to look for the folder. */
export interface StateHome {
  /** `XDG_STATE_HOME`, if it is set. */
  readonly stateHome: string | undefined;
  readonly home: string;
}

/**
 * Makes the folder, which only its owner can read.
 * @throws HookFault if others could write there
 */
export function stateFolder({ stateHome, home }: StateHome): string {
  const base =
    stateHome !== undefined && isAbsolute(stateHome) ? stateHome : join(home, '.local', 'state');
  const folder = join(base, 'host-tools', 'hook');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const own = process.getuid?.();
    if (own !== undefined && (uid !== own || (mode & 0o077) !== 0))
      throw new Error('expected a folder that only its owner can use. Run `chmod 700` on it');
    if (own !== undefined) for (const above of [dirname(folder), base]) requireGuarded(above);
  } catch (error) {
    throw new HookFault(`Cannot keep the state of hooks in ${folder}: ${messageOf(error)}.`);
  }
  return folder;
}

/**
 * Whoever can write to a folder can replace the folders in it, unless it is sticky.
 * @throws Error if others can write to it
 */
function requireGuarded(folder: string): void {
  const { mode } = statSync(folder);
  if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
    throw new Error(`others can write to ${folder}. Run \`chmod o-w\` on it`);
}

/** A file's name for a text that may contain anything. */
export function nameFor(kind: string, ...about: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 40);
  return `${kind}-${hash}`;
}

/**
 * Removes files that are older than a day. Quotas may count longer, but they clean up their own
 * file.
 */
export function forgetOld(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('session-')) continue;
    const file = join(folder, name);
    const at = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (at !== undefined && now - at > keptMs) rmSync(file, { force: true });
  }
}
