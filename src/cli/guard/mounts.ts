/**
 * What a sandboxed agent may write. Its system is read-only, except for some folders, and in these
 * some files are read-only again.
 */
import { lstatSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { UserHome } from '../../surfaces/agents/hooks.ts';
import { inTurn } from '../../surfaces/agents/state/locked-file.ts';
import { type Lock, takeLock } from '../../values/files/lock-file.ts';
import { makeFolder, openPrivateFolder, stateFolderOf } from '../../values/files/private-folder.ts';
import { createFileSync } from '../../values/files/whole-file.ts';
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

// What lies in the place of missing files while an agent runs, because bubblewrap can only protect
// what exists.

/** How long one guard waits for others that are starting or ending, in milliseconds. */
const patienceMs = 30_000;

/** Only one guard at a time creates, mounts or removes placeholders. */
export function guardsTurn({ env, home }: UserHome): Promise<Lock> {
  const folder = stateFolderOf('guard', env.XDG_STATE_HOME, home);
  openPrivateFolder(folder, { danger: 'remove the files that guards protect' });
  const lock = join(folder, 'turn.lock');
  return inTurn(() => takeLock(lock, 'host-tools guard'), lock, Date.now() + patienceMs);
}

export function createPlaceholders(missing: readonly Guarded[]): void {
  for (const { path, absent } of missing)
    if (absent === 'folder') makeFolder(path, 0o755);
    else createFileSync(path, absent.text, { durable: false });
}

/**
 * Removes those that are as they were created, the deepest first. One that another guard has
 * mounted stays: Linux would drop that mount.
 */
export async function removePlaceholders(missing: readonly Guarded[]): Promise<void> {
  let mounted = mountPoints();
  // A sandbox that did not start may take a moment to end.
  for (let left = 20; left > 0 && missing.some(({ path }) => mounted.has(path)); left--) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    mounted = mountPoints();
  }
  for (const { path, absent } of [...missing].reverse()) {
    if (mounted.has(path)) continue;
    try {
      if (absent === 'folder') rmdirSync(path);
      else if (isAbsent({ path, absent })) rmSync(path, { force: true });
    } catch {
      // Somebody has removed it, or uses it.
    }
  }
}

/** The mount points of all processes that this user may look at. */
function mountPoints(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      for (const line of readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n')) {
        const path = line.split(' ')[4] ?? '';
        found.add(
          path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8))),
        );
      }
    } catch {
      // It has ended.
    }
  }
  return found;
}
