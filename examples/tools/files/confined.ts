// Files below a root, and no others: also when somebody swaps a folder for a link between two
// steps.
//
// On Linux each part of a path is opened inside the already opened folder before it
// (`/proc/self/fd/<fd>/<name>`, which is `openat`), never following a link: what was opened is then
// below the root by construction, and no name is looked up twice. Elsewhere Node has no such path;
// there a part is opened by its name without following a link, and refused unless the real path of
// that name is the very file that was opened.
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type PathProblem, type PathReason, pathParts, pathProblem } from './path.ts';

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
const byHandle = process.platform === 'linux' && existsSync('/proc/self/fd');

/** An opened folder below the root. It closes with the call that gave it. */
export interface Folder {
  readonly handle: FileHandle;
  readonly path: string;
}

/** Thrown for a path that is refused; `reason` is stable. */
export class PathRefused extends Error implements PathProblem {
  override readonly name = 'PathRefused';
  readonly reason: PathReason;
  constructor({ reason, message }: PathProblem) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Opens the folder that holds `path`, step by step from `root`, and hands it to `use` with the last
 * name (`.` for the root itself). @throws PathRefused
 */
export async function inFolderOf<T>(
  root: string,
  path: string,
  use: (folder: Folder, name: string) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const problem = pathProblem(path);
  if (problem !== undefined) throw new PathRefused(problem);
  const parts = pathParts(path);
  const name = parts.pop() ?? '.';
  const realRoot = await realpath(root);
  let folder: Folder = { path: realRoot, handle: await open(realRoot, O_RDONLY | O_DIRECTORY) };
  try {
    for (const part of parts) {
      if (create) await mkdir(pathIn(folder, part)).catch((error) => ignore(error, 'EEXIST'));
      const next = await openFolder(folder, part);
      await folder.handle.close();
      folder = next;
    }
    return await use(folder, name);
  } finally {
    await folder.handle.close();
  }
}

/**
 * Opens a folder inside an opened one; the caller closes it. `.` is the folder again. @throws
 * PathRefused
 */
export async function openFolder(folder: Folder, name: string): Promise<Folder> {
  return {
    path: join(folder.path, name),
    handle: await openIn(folder, name, O_RDONLY | O_DIRECTORY, 'not_a_folder'),
  };
}

/** What a folder holds, by name. */
export async function listFolder(folder: Folder) {
  const entries = await readdir(byHandle ? `/proc/self/fd/${folder.handle.fd}` : folder.path, {
    withFileTypes: true,
  });
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What stands at a name, or undefined. @throws PathRefused where it is a link. */
export async function look(folder: Folder, name: string) {
  const found = await lstat(pathIn(folder, name)).catch((error) => ignore(error, 'ENOENT'));
  if (found?.isSymbolicLink())
    throw new PathRefused({ reason: 'symlink_refused', message: `${name} is a symbolic link` });
  return found;
}

/**
 * Opens what stands at a name, never following a link; the caller closes it. @throws PathRefused
 */
export async function openIn(
  folder: Folder,
  name: string,
  flags: number,
  otherwise: PathReason,
): Promise<FileHandle> {
  const path = pathIn(folder, name);
  let handle: FileHandle;
  try {
    handle = await open(path, flags | O_NOFOLLOW);
  } catch (error) {
    await look(folder, name);
    const reason = codeOf(error) === 'ENOENT' ? 'not_found' : otherwise;
    throw new PathRefused({
      reason,
      message:
        reason === 'not_found'
          ? `${name} does not exist`
          : `${name} cannot be opened (${codeOf(error)})`,
    });
  }
  if (byHandle) return handle;
  const [opened, named, real] = [
    await handle.stat({ bigint: true }),
    await lstat(path, { bigint: true }),
    await realpath(path),
  ];
  if (opened.ino === named.ino && opened.dev === named.dev && real === path) return handle;
  await handle.close();
  throw new PathRefused({ reason: 'path_outside_root', message: `${name} leads elsewhere` });
}

/** A path for what Node can do by path only; valid while the folder is open. */
export function pathIn(folder: Folder, name: string): string {
  return byHandle ? `/proc/self/fd/${folder.handle.fd}/${name}` : join(folder.path, name);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** Swallows the error with this code and no other. */
export function ignore(error: unknown, code: string): undefined {
  if (codeOf(error) !== code) throw error;
}
