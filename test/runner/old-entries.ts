import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Removes what a folder has kept for longer than that, so that it does not grow without end. */
export function forgetOld(folder: string, ageMs: number): void {
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // There is none yet.
  }
  for (const name of names) {
    const path = join(folder, name);
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Date.now() - usedAt > ageMs) rmSync(path, { recursive: true, force: true });
  }
}
