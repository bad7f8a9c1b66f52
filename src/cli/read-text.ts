/** Reads files and standard input as UTF-8 text, up to a size. */
import { access, constants, open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { untilInterrupted } from './fault.ts';

/**
 * Reads a file. A relative path starts from `io.cwd`.
 * @param maxBytes The maximum size in bytes.
 * @throws Error with a message for people
 */
export async function readTextFile(path: string, io: CliIo, maxBytes: number): Promise<string> {
  return untilInterrupted(
    (async () => {
      const file = await open(resolve(io.cwd, path), 'r');
      try {
        return await collect(
          file.createReadStream({ autoClose: false, highWaterMark: 65_536 }),
          maxBytes,
        );
      } finally {
        await file.close();
      }
    })(),
    io.signal,
  ).catch((error: unknown) => {
    throw new Error(fileFault(error));
  });
}

/**
 * Checks that there is a readable file, without opening it, because a pipe would wait.
 * @param orFolder Whether a directory will do as well.
 * @throws Error with a message for people
 */
export async function requireFile(
  path: string,
  { cwd }: Pick<CliIo, 'cwd'>,
  orFolder = false,
): Promise<void> {
  try {
    const place = resolve(cwd, path);
    await access(place, constants.R_OK);
    if (!orFolder && (await stat(place)).isDirectory())
      throw Object.assign(new Error('a directory'), { code: 'EISDIR' });
  } catch (error) {
    throw new Error(fileFault(error));
  }
}

/** Reads standard input to its end. @throws Error with a message for people */
export function readStdin({ stdin, signal }: CliIo, maxBytes: number): Promise<string> {
  return untilInterrupted(collect(stdin, maxBytes), signal);
}

async function collect(stream: AsyncIterable<string | Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  // Drops a byte order mark and refuses other encodings.
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Error('it is not UTF-8 text');
  }
}

/** Node's message repeats the call and the path; the code says enough. */
function fileFault(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  if (code === 'EACCES' || code === 'EPERM') return 'you have no permission to read it';
  return messageOf(error);
}
