/** Files that only their owner can use. */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { codeOf } from '../errors/index.ts';
import { isOurs, isShared, modeOf } from './private-folder.ts';
import { createFileSync } from './whole-file.ts';

/** What opening such a file never does: follow a link, or wait for the other end of a pipe. */
const never = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The content of a file; undefined if there is none.
 * @param doubt What follows if others can use it, and what to do: `so its key may be known. …`
 * @throws Error if others can use the file, or if it is a link, a pipe or a folder
 */
export function readPrivateFile(path: string, doubt: string): Buffer | undefined {
  try {
    return withFile(path, constants.O_RDONLY, doubt, (fd) => readFileSync(fd));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Appends to a file, which is created if there is none.
 * @returns false if it would then have more than so many bytes
 * @throws Error as {@link readPrivateFile} does
 */
export function appendPrivateFile(path: string, bytes: Buffer, maxBytes: number): boolean {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const doubt = 'so they can change what it says. Remove it and begin anew';
  return withFile(path, flags, doubt, (fd) => {
    if (fstatSync(fd).size + bytes.length > maxBytes) return false;
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    return true;
  });
}

/**
 * The key of 32 bytes in a file, as 64 hex digits. It is created if there is none. If several
 * processes create it at the same time, all get the same key.
 * @param remedy What to do with a file that cannot be used.
 * @throws Error if others can use the file, or if it has something else in it
 */
export function privateKey(path: string, remedy: string): Buffer {
  const doubt = `so its key may be known. ${remedy}`;
  let found = readPrivateFile(path, doubt);
  if (found === undefined) {
    createFileSync(path, `${randomBytes(32).toString('hex')}\n`);
    found = readPrivateFile(path, doubt);
  }
  const [, digits] = /^([0-9a-f]{64})\n?$/.exec(found?.toString('latin1') ?? '') ?? [];
  if (digits === undefined)
    throw new Error(`expected \`${path}\` to have 64 hex digits. ${remedy}`);
  return Buffer.from(digits, 'hex');
}

function withFile<T>(path: string, flags: number, doubt: string, work: (fd: number) => T): T {
  const fd = openSync(path, flags | never, 0o600);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`expected \`${path}\` to be a regular file. Remove it`);
    if (!isOurs(stats))
      throw new Error(`\`${path}\` belongs to another user, ${stats.uid}, ${doubt}`);
    if (isShared(stats, 0o077))
      throw new Error(
        `others than its owner can use \`${path}\` (mode ${modeOf(stats)}), ${doubt}`,
      );
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * At most so many bytes, as UTF-8. A character at the end may be cut.
 * @returns the text, and whether that is all of the file
 */
export async function readStart(
  path: string,
  bytes: number,
): Promise<{ readonly text: string; readonly whole: boolean }> {
  const file = await open(path, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes + 1), 0, bytes + 1, 0);
    const whole = bytesRead <= bytes;
    return { text: buffer.toString('utf8', 0, Math.min(bytesRead, bytes)), whole };
  } finally {
    await file.close();
  }
}
