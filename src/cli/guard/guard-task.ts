/** How the hook of an installed guard begins: it checks its own folder, and judges by its rules. */
import { join } from 'node:path';
import type { HookTask } from '../hook-task.ts';
import { auditName, guardFiles, parsedName, readRecord, verifiedFiles } from './guard-folder.ts';

/**
 * The task of the hook in this folder.
 * @param host The process. Words of its command line follow those of the task.
 * @returns the task, and the files of the guard
 * @throws Error that says what was changed, and what to do
 */
export function guardTask(
  host: NodeJS.Process,
  folder: string,
): { readonly task: HookTask; readonly files: ReadonlyMap<string, Buffer> } {
  const record = readRecord(folder);
  const files = verifiedFiles(folder, record);
  const rules = join(folder, guardFiles.rules);
  const parsed = files.get(parsedName)?.toString('utf8');
  const task = {
    argv: ['hook', record.agent, '--host-tools', rules, ...host.argv.slice(2)],
    env: host.env,
    cwd: host.cwd(),
    log: join(folder, auditName),
    ...(parsed === undefined ? {} : { known: { path: rules, content: JSON.parse(parsed) } }),
  };
  return { task, files };
}
