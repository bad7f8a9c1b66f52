/** How `hook check` learns that an agent has started the hook of a guard. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileSync } from '../../values/files/whole-file.ts';

/** The environment variable with the number of a check: 32 hex digits. */
export const checkVariable = 'HOST_TOOLS_HOOK_CHECK';

/** The file that a hook creates if it runs during a check. Undefined for a wrong number. */
export function checkFile(number: string | undefined): string | undefined {
  return /^[0-9a-f]{32}$/.test(number ?? '')
    ? join(tmpdir(), `host-tools-check-${number}`)
    : undefined;
}

/** Notes that the hook runs. @returns whether there is a check. The hook then judges nothing. */
export function noteCheck(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env[checkVariable] === undefined) return false;
  const file = checkFile(env[checkVariable]);
  try {
    if (file !== undefined) createFileSync(file, '', { durable: false });
  } catch {
    // An earlier hook has noted it.
  }
  return true;
}
