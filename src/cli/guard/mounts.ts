/**
 * What a sandboxed agent may write. Its system is read-only, except for some folders, and in these
 * some files are read-only again.
 */
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { failure } from '../fault.ts';

/** A folder or a file, and whether the agent may write there. It covers everything below it. */
export interface Mount {
  readonly path: string;
  readonly writable: boolean;
}

/** A file or folder that the agent must neither change nor replace. */
export interface Guarded {
  readonly path: string;
  /**
   * What is put there while the agent runs if there is nothing: a folder, or a file with this text.
   * Otherwise the agent could create it.
   */
  readonly absent: 'folder' | { readonly text: string };
}

/** What the agent may write. */
export interface Wish {
  /** Folders and files, with their links resolved. */
  readonly writable: readonly string[];
  readonly guarded: readonly Guarded[];
}

/** What to mount, and what to create before that. */
export interface MountPlan {
  /** In the order in which they are mounted. */
  readonly mounts: readonly Mount[];
  readonly missing: readonly Guarded[];
}

/** Whether a path is a folder or lies in it. */
export function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * Plans the mounts. A folder above a guarded file is mounted too, because a mount point cannot be
 * renamed: otherwise the agent could put a folder of its own in its place.
 * @throws CliFault 1 if a guarded file cannot be kept from being replaced
 */
export function planMounts({ writable, guarded }: Wish): MountPlan {
  const mounts = new Map<string, Mount>();
  const missing: Guarded[] = [];
  for (const path of writable) mounts.set(path, { path, writable: true });
  const around = (path: string): Mount | undefined =>
    [...mounts.values()]
      .filter((mount) => isIn(mount.path, path))
      .sort((a, b) => a.path.length - b.path.length)
      .at(-1);
  for (const { path: given, absent } of [...guarded].sort(byLength)) {
    // Links above it count if they are where the agent cannot change them.
    const path = join(placeOfFolder(dirname(given)), basename(given));
    const holder = around(path);
    if (holder?.writable !== true) continue;
    for (let above = dirname(path); isIn(holder.path, above) && above !== holder.path; ) {
      requirePlain(above);
      mounts.set(above, { path: above, writable: true });
      above = dirname(above);
    }
    requirePlain(path);
    if (isAbsent({ path, absent })) missing.push({ path, absent });
    mounts.set(path, { path, writable: false });
  }
  return { mounts: [...mounts.values()].sort(byLength), missing };
}

const byLength = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path.length - b.path.length;

function placeOfFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Whether there is nothing, or only what an earlier run has put there. */
export function isAbsent({ path, absent }: Guarded): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (absent === 'folder') return stats.isDirectory() && readdirSync(path).length === 0;
  return stats.isFile() && stats.size < 10 && readFileSync(path, 'utf8') === absent.text;
}

/** @throws CliFault 1 */
function requirePlain(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const refuse = (what: string): never => {
    throw failure(
      `${path} ${what}, so the agent could change or replace it by another name. Put a file of ` +
        'its own there.',
    );
  };
  if (stats?.isSymbolicLink()) refuse('is a symbolic link');
  if (stats?.isFile() && stats.nlink > 1) refuse('has a second hard link');
}
