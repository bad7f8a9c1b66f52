/** Why a path is refused; the texts are stable. */
export type PathReason =
  | 'invalid_path'
  | 'path_outside_root'
  | 'path_protected'
  | 'symlink_refused'
  | 'not_a_file'
  | 'not_a_folder'
  | 'not_found';

/** A refused path. Its message names no absolute path. */
export interface PathProblem {
  readonly reason: PathReason;
  readonly message: string;
}

const MAX_PATH_CHARS = 1_000;
// Drive letters, UNC names and stream names are Windows' ways out of a folder; refused everywhere,
// so that a path means the same on each system.
const WINDOWS_SPECIAL = /\\|^[A-Za-z]:|:\$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * What is wrong with `path` as a path below a root, from its text alone; nothing when it may be
 * tried.
 */
export function pathProblem(path: string): PathProblem | undefined {
  if (path === '' || path.length > MAX_PATH_CHARS || CONTROL.test(path))
    return {
      reason: 'invalid_path',
      message: `a path has 1 to ${MAX_PATH_CHARS} characters, none of them a control character`,
    };
  if (path.startsWith('/') || WINDOWS_SPECIAL.test(path))
    return {
      reason: 'path_outside_root',
      message: 'a path is relative to the root and has / between its parts',
    };
  const parts = path.split('/');
  if (parts.includes('..'))
    return { reason: 'path_outside_root', message: 'a path has no .. in it' };
  // Whoever writes git's own folder decides which programs git runs.
  if (parts.some(isGitFolder))
    return { reason: 'path_protected', message: 'the .git folder is not for tools' };
  return undefined;
}

/** The names between the slashes, without `.` and empty ones; call {@link pathProblem} first. */
export function pathParts(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/**
 * Also `.GIT`, `.git.`, the short name `git~1` and names with invisible characters, which some file
 * systems take for the same folder.
 */
function isGitFolder(part: string): boolean {
  const seen = part
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
  return seen === '.git' || seen === 'git~1';
}
