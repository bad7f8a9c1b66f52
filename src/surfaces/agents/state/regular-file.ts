/** Files of hooks are regular ones. To open a pipe would wait for somebody at its other end. */
import { type Stats, statSync } from 'node:fs';
import { HookFault } from '../event.ts';

/**
 * Checks a file before it is opened. One that does not exist yet is fine.
 * @throws HookFault if it is a pipe, a socket, a device or a folder
 */
export function requireRegularFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw new HookFault(
    `Expected ${file} to be a regular file, got ${kindOf(stats)}. Remove it or name another file.`,
  );
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return stats.isDirectory() ? 'a folder' : 'a device';
}
