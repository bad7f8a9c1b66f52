/** Reads the beginning of a file that may be large. */
import { open } from 'node:fs/promises';

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
