/** Folders that only their owner can write to: the one check of their owner, mode and links. */
import { lstatSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { MisuseError } from '../errors/index.ts';

/** What is asked of a folder. */
export interface FolderWish {
  /** The function whose option `dir` the path is. @default the path is no option */
  readonly where?: string;
  /** What someone who can write to it can do: `put answered approvals back`. */
  readonly danger: string;
  /** Whether others may not even list it. @default false */
  readonly closed?: boolean;
}

/**
 * Makes a folder, for its owner only, or checks the one that is there. Whoever can write to a
 * folder above it can replace it, so the folders above are checked too.
 * @throws Error that says what to do; for an option, MisuseError `invalid_option`. Errors of the
 * file system as they are.
 */
export function openPrivateFolder(
  path: string,
  { where, danger, closed = false }: FolderWish,
): void {
  const fault = (text: string): Error =>
    where === undefined ? new Error(text) : new MisuseError('invalid_option', `${where}: ${text}`);
  const found = statSync(path, { throwIfNoEntry: false }) ?? makeFolder(path);
  const name = where === undefined ? `\`${path}\`` : '`dir`';
  const wanted = where === undefined ? `${name} to be a folder` : `a ${name}`;
  if (!found.isDirectory()) throw fault(`expected ${name} to be a folder.`);
  const stranger = [found, lstatSync(path)].find((stats) => !isOurs(stats));
  if (stranger !== undefined)
    throw fault(
      `expected ${wanted} of the user of this process, ${process.getuid?.()}, got one of user ` +
        `${stranger.uid}, who can ${danger}. Run \`chown\` on it, or give a folder of its own.`,
    );
  if (isShared(found, closed ? 0o077 : 0o022))
    throw fault(
      `expected ${wanted} that only its owner can ${closed ? 'use' : 'write to'}, got mode ` +
        `${modeOf(found)}. Whoever can write to it can ${danger}. Run \`chmod 700\` on it, or ` +
        'give a folder of its own.',
    );
  const open = [path, realpathSync(path)].flatMap(foldersAbove).find(isOpenToAll);
  if (open !== undefined) throw fault(`others can write to ${open}. Run \`chmod o-w\` on it.`);
}

/** Makes a folder and those above it, unless they exist. */
export function makeFolder(path: string, mode = 0o700): Stats {
  mkdirSync(path, { recursive: true, mode });
  return statSync(path);
}

function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...foldersAbove(above)];
}

/** Everyone can replace what is in a folder that everyone can write to, unless it is sticky. */
function isOpenToAll(folder: string): boolean {
  const stats = statSync(folder);
  return isShared(stats, 0o002) && (stats.mode & 0o1000) === 0;
}

/** Whether it belongs to the user of this process or to root, who can do everything anyway. */
export function isOurs({ uid }: Stats): boolean {
  // Windows has neither owners nor permission bits of this kind.
  const own = process.getuid?.();
  return own === undefined || uid === own || uid === 0;
}

/** Whether others than the owner have one of these permissions. */
export function isShared({ mode }: Stats, bits: number): boolean {
  return process.getuid !== undefined && (mode & bits) !== 0;
}

/** The permissions as `chmod` takes them: `0755`. */
export function modeOf({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

/**
 * The place of a user's own state of this package. A relative `XDG_STATE_HOME` does not count,
 * because it depends on where the command is started.
 */
export function stateFolderOf(part: string, stateHome: string | undefined, home: string): string {
  const base =
    stateHome !== undefined && isAbsolute(stateHome) ? stateHome : join(home, '.local', 'state');
  return join(base, 'host-tools', part);
}
