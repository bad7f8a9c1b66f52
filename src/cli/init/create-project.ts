/** Writes the files of a new project: either all of them or none. */
import { lstat, mkdir, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { codeOf, messageOf } from '../../values/errors/index.ts';
import { createFile } from '../../values/files/whole-file.ts';

/** The files of a project by their paths, which are relative and use `/`. */
export type ProjectFiles = Readonly<Record<string, string>>;

/** What was written. */
export interface CreatedProject {
  /** Absolute. */
  readonly folder: string;
  /** Relative to the folder, in the order of the files. */
  readonly files: readonly string[];
}

/**
 * Creates a folder if there is none and writes files into it. An existing file is never replaced,
 * and nothing is written through a symbolic link inside the folder; the folder itself may be one.
 * @param given the folder, relative to `cwd`
 * @param contents makes the files from the folder's own name
 * @throws Error with a message for people. Whatever was written until then is removed again.
 */
export async function createProject(
  cwd: string,
  given: string,
  contents: (folderName: string) => ProjectFiles,
): Promise<CreatedProject> {
  const folder = resolve(cwd, given);
  const files = Object.entries(contents(basename(folder)));
  await requireFolder(folder, given);
  await requireFree(
    folder,
    files.map(([path]) => path),
  );
  const undo: (() => Promise<unknown>)[] = [];
  try {
    for (const [path, text] of files) {
      const place = join(folder, path);
      await makeFolders(dirname(place), undo);
      // The path may exist by now, even as a symbolic link.
      if (!(await createFile(place, text, { mode: 0o666, durable: false })))
        throw Object.assign(new Error('It exists.'), { code: 'EEXIST', path: place });
      undo.push(() => rm(place));
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {});
    throw new Error(`Cannot create the project in \`${given}\`: ${reasonOf(error, cwd)}. ${none}`);
  }
  return { folder, files: files.map(([path]) => path) };
}

const none = 'Nothing was written.';

/** Refuses what is neither a folder nor a place for a new one. */
async function requireFolder(folder: string, given: string): Promise<void> {
  let isFolder = false;
  try {
    isFolder = (await stat(folder)).isDirectory();
  } catch (error) {
    const code = codeOf(error);
    // The path does not exist, not even as a broken link.
    if (code === 'ENOENT' && (await kindAt(folder)) === undefined) return;
    const reason =
      code === 'ENOENT' ? 'it is a symbolic link whose target does not exist' : reasonOf(error);
    throw new Error(`Cannot create the project in \`${given}\`: ${reason}. ${none}`);
  }
  if (!isFolder)
    throw new Error(
      `Expected \`${given}\` to be a folder or a new name, but it is a file. ${none} Give ` +
        'another DIR.',
    );
}

/** Refuses to write where a file is already, naming all such files, and through links. */
async function requireFree(folder: string, paths: readonly string[]): Promise<void> {
  const taken: string[] = [];
  for (const path of paths) {
    const parents = path.split('/').slice(0, -1);
    for (const [at] of parents.entries()) {
      const parent = parents.slice(0, at + 1).join('/');
      const kind = await kindAt(join(folder, parent));
      if (kind !== undefined && kind !== 'folder' && !taken.includes(parent)) taken.push(parent);
    }
    if ((await kindAt(join(folder, path))) !== undefined) taken.push(path);
  }
  if (taken.length === 0) return;
  throw new Error(
    `${taken.map((path) => `\`${path}\``).join(', ')} ${taken.length === 1 ? 'exists' : 'exist'} ` +
      `already. ${none} Move ${taken.length === 1 ? 'it' : 'them'} away, or give another DIR.`,
  );
}

/** The kind of entry at a path, without following a symbolic link. Undefined if there is none. */
async function kindAt(path: string): Promise<'folder' | 'other' | undefined> {
  try {
    return (await lstat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    const code = codeOf(error);
    // `ENOTDIR` means that a parent is a file. Another check finds that.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`Cannot read \`${path}\`: ${reasonOf(error)}. ${none}`);
  }
}

/** Creates a folder with its parents. `undo` removes those that are new. */
async function makeFolders(folder: string, undo: (() => Promise<unknown>)[]): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  const created = [first];
  const rest = relative(first, folder);
  if (rest !== '')
    for (const part of rest.split(/[/\\]/)) created.push(join(created.at(-1) as string, part));
  for (const one of created) undo.push(() => rmdir(one));
}

/** Node's message repeats the system call; the code says enough. */
function reasonOf(error: unknown, cwd?: string): string {
  const code = codeOf(error);
  const { path } = error as { path?: unknown };
  const where = cwd !== undefined && typeof path === 'string' ? `\`${relative(cwd, path)}\` ` : '';
  if (code === 'EEXIST') return `${where}exists already`;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return 'you have no permission to write there';
  if (code === 'ENOTDIR') return 'a part of the path is a file';
  if (code === 'ELOOP') return 'its symbolic links form a circle';
  return messageOf(error);
}
