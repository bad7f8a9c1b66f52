/** Reads files that others name. */
import { constants, open } from 'node:fs/promises';

/**
 * The bytes of a file, at most one more than is accepted, even if the file grows or has no size.
 * @returns undefined for a pipe, a device or a socket
 * @throws the errors of the file system
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  // Opening a pipe must not wait for a writer.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const kind = await file.stat();
    if (!kind.isFile() && !kind.isDirectory()) return undefined;
    const buffer = Buffer.alloc(maxBytes + 1);
    let size = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size);
      size += bytesRead;
      if (bytesRead === 0 || size === buffer.length) return buffer.subarray(0, size);
    }
  } finally {
    await file.close();
  }
}
