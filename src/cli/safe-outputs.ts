/**
 * Refuses to write over a file that the command reads, or that belongs to an audit log, before
 * anything is opened.
 */
import { resolve } from 'node:path';
import { isFileOf, logAt, logBeside } from '../surfaces/audit/log-files.ts';
import { isSameFile } from '../values/files/same-file.ts';
import { usageFault } from './fault.ts';
import type { FileUse } from './options.ts';
import { shownPath } from './printable.ts';

/**
 * @param files What the command reads and writes, with paths that are relative to `cwd`.
 * @throws CliFault 2
 */
export function requireSafeOutputs(files: readonly FileUse[], cwd: string): void {
  const outputs = files.filter(({ use }) => use !== 'read');
  for (const { name, path, use } of outputs) {
    const place = resolve(cwd, path);
    const refuse = (what: string): never => {
      throw usageFault(`${name} must not write to \`${path}\`: it is ${what}. Give another path.`);
    };
    for (const other of files) {
      const read = resolve(cwd, other.path);
      if (other.name === name && other.path === path) continue;
      if (isSameFile(place, read)) refuse(`the file of ${other.name}`);
      if (isFileOf(read, place)) refuse(`a file of the log \`${other.path}\``);
    }
    // The command may not know the log.
    const log = use === 'log' ? logBeside(place) : logAt(place);
    if (log !== undefined) refuse(`a file of the audit log \`${shownPath(log, cwd)}\``);
  }
}
