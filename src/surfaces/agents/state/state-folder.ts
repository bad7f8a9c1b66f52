/** The folder in which hook processes keep their shared state. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../values/errors/index.ts';
import { openPrivateFolder, stateFolderOf } from '../../../values/files/private-folder.ts';
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
  const folder = stateFolderOf('hook', stateHome, home);
  try {
    openPrivateFolder(folder, { closed: true, danger: 'change what hooks remember' });
  } catch (error) {
    throw new HookFault(`Cannot keep the state of hooks in ${folder}: ${messageOf(error)}`);
  }
  return folder;
}

/** Where the folder of {@link cacheFolder} is. */
export function cachePath({ stateHome, home }: StateHome): string {
  return stateFolderOf('hook-cache', stateHome, home);
}

/**
 * Makes the folder for what makes later hooks faster: compiled code and rules. Hooks obey it, so an
 * agent in a sandbox must not write there, as it may to the folder of the state.
 * @returns undefined if it cannot be made, or if others could write there. Nothing is kept then.
 */
export function cacheFolder(at: StateHome): string | undefined {
  const folder = cachePath(at);
  try {
    openPrivateFolder(folder, { closed: true, danger: 'change what hooks do' });
    return folder;
  } catch {
    return undefined;
  }
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
    if (!/^(?:session|rules)-/.test(name)) continue;
    const file = join(folder, name);
    const at = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (at !== undefined && now - at > keptMs) rmSync(file, { force: true });
  }
}
