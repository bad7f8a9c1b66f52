/** How the copy of a hook begins: it checks its own folder, and judges by the rules there. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GuardRecord, guardFiles, readGuard } from './guard-record.ts';

/** What the hook is to do, as words of the command line. */
export interface GuardTask {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * The task of an installed hook.
 * @throws Error that says what was changed, and what to do
 */
export function guardTask(host: NodeJS.Process, folder: string): GuardTask {
  const record = readGuard(folder);
  verifyGuard(folder, record);
  const audit = record.audit ? ['--audit', join(folder, 'audit.jsonl')] : [];
  const rules = ['--host-tools', join(folder, guardFiles.rules)];
  const argv = ['hook', record.agent, ...rules, ...audit, ...host.argv.slice(2)];
  return { argv, env: host.env, cwd: host.cwd() };
}

/** @throws Error if a file of the guard is not as it was installed */
export function verifyGuard(folder: string, { agent, digests }: GuardRecord): void {
  for (const [name, digest] of Object.entries(digests)) {
    const path = join(folder, name);
    if (digestOf(path) !== digest)
      throw new Error(
        `${path} is not as it was installed. Look at what was changed. \`host-tools hook install ` +
          `${agent}\` accepts it.`,
      );
  }
}

/** Of a regular file. `""` if there is none. */
export function digestOf(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return '';
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
