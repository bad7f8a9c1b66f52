/**
 * The key that signs kept approvals. It is created once, and read by every process that shares the
 * folder.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** 32 bytes in hex, and a line break. */
const form = /^[0-9a-f]{64}\n?$/;
const mostBytes = 128;
const remedy = 'Delete it and start again. Calls that wait for approval can then not be answered';

/**
 * The key in the file `secret` of a folder. It is created if there is none. If several processes
 * create it at the same time, all get the same key.
 * @throws Error if others can read the file, or if it has something else in it
 */
export function approvalSecret(folder: string): Buffer {
  const path = join(folder, 'secret');
  return readSecret(path) ?? makeSecret(folder, path);
}

/** Undefined if there is no such file. */
function readSecret(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const found = fstatSync(fd);
    // Windows has no such permission bits.
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
      throw new Error(
        `others than its owner can use \`${path}\` (mode ` +
          `${(found.mode & 0o777).toString(8).padStart(4, '0')}), so its key may be known. ` +
          `${remedy}`,
      );
    const buffer = Buffer.alloc(mostBytes);
    const text = found.isFile() ? buffer.toString('utf8', 0, readSync(fd, buffer)) : '';
    if (!form.test(text)) throw new Error(`expected \`${path}\` to have 64 hex digits. ${remedy}`);
    return Buffer.from(text.trim(), 'hex');
  } finally {
    closeSync(fd);
  }
}

function makeSecret(folder: string, path: string): Buffer {
  // The store of approvals removes abandoned drafts.
  const draft = join(folder, `${randomUUID()}.draft`);
  const secret = randomBytes(32);
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, `${secret.toString('hex')}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  try {
    // Linking to an existing name fails, so only one process creates the key, and no process reads
    // half of it.
    linkSync(draft, path);
    return secret;
  } catch (error) {
    const made = readSecret(path);
    if (made === undefined) throw error;
    return made;
  } finally {
    rmSync(draft, { force: true });
  }
}
