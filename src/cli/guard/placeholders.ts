/**
 * What lies in the place of missing files while an agent runs, because bubblewrap can only protect
 * what exists.
 */
import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { UserHome } from '../../surfaces/agents/hooks.ts';
import { inTurn } from '../../surfaces/agents/state/locked.ts';
import { type Lock, takeLock } from '../../values/files/lock-file.ts';
import { makeFolder, openPrivateFolder, stateFolderOf } from '../../values/files/private-folder.ts';
import { createFileSync } from '../../values/files/whole-file.ts';
import { type Guarded, isAbsent } from './mounts.ts';

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
