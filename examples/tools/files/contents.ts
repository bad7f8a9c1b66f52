// Reading and writing one file inside an opened folder.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { type Folder, ignore, look, openIn, PathRefused, pathIn } from './confined.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** The first `maxBytes` bytes of a regular file, and whether there are more. @throws PathRefused */
export async function readBytes(
  folder: Folder,
  name: string,
  maxBytes: number,
): Promise<{ bytes: Buffer; more: boolean }> {
  // Not blocking: opening a pipe for reading would otherwise wait for a writer.
  const handle = await openIn(folder, name, O_RDONLY | O_NONBLOCK, 'not_a_file');
  try {
    if (!(await handle.stat()).isFile())
      throw new PathRefused({ reason: 'not_a_file', message: 'it is not a regular file' });
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead;
    return { bytes: buffer.subarray(0, Math.min(length, maxBytes)), more: length > maxBytes };
  } finally {
    await handle.close();
  }
}

/**
 * Puts `content` in place whole or not at all: a new file is renamed over the name, so that neither
 * a link nor a hard link is ever written through. @throws PathRefused where the name is a link or
 * no regular file.
 */
export async function writeBytes(folder: Folder, name: string, content: string): Promise<void> {
  const old = await look(folder, name);
  if (old !== undefined && !old.isFile())
    throw new PathRefused({ reason: 'not_a_file', message: 'it is not a regular file' });
  const draft = `.${randomUUID()}.tmp`;
  const handle = await open(pathIn(folder, draft), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
  try {
    await handle.writeFile(content);
    if (old !== undefined) await handle.chmod(old.mode & 0o777);
    await handle.close();
    await rename(pathIn(folder, draft), pathIn(folder, name));
  } catch (error) {
    await handle.close();
    await unlink(pathIn(folder, draft)).catch((failure) => ignore(failure, 'ENOENT'));
    throw error;
  }
}
