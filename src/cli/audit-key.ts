/** What the commands on audit logs read in addition to the log. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure } from './fault.ts';

/** The key in a file, without a line break at its end; undefined if no file is given. */
export async function readKey(file: string | undefined, io: CliIo): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  const bytes = await readFile(resolve(io.cwd, file)).catch((error: unknown) => {
    throw failure(`Cannot read \`${file}\`: ${messageOf(error)}.`);
  });
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  return bytes.subarray(0, end);
}

/** Why a log cannot be read, as one line. */
export function unreadable(file: string, error: unknown): Error {
  const { code } = error as { code?: unknown };
  const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such file' : messageOf(error);
  return failure(`Cannot read \`${file}\`: ${why.replace(/\.$/, '')}.`);
}
