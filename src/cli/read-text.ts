/** Reads files and standard input as UTF-8 text, up to a size: whole, as JSON, or line by line. */
import { access, constants, open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { JsonObject } from '../core.ts';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure, untilInterrupted, usageFault } from './fault.ts';

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
function readStdin({ stdin, signal }: CliIo, maxBytes: number): Promise<string> {
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

// Reads JSON from the command line: the arguments of a call, facts, and configurations.

/** Maximum bytes of a text. Pretty-printed, an input may be well above the limit of a call. */
const maxBytes = 8 * 1_048_576;

/**
 * Reads `--input`. Without it, the input is `{}`.
 * @throws CliFault 1 if it cannot be read, 2 if it is not JSON
 */
export async function readInput(option: string | undefined, io: CliIo): Promise<unknown> {
  return option === undefined ? {} : readOption(option, '`--input`', io);
}

/**
 * Reads `--facts`. Without it, there are no facts.
 * @throws CliFault 1 if it cannot be read, 2 if it is not a JSON object
 */
export async function readFacts(option: string | undefined, io: CliIo): Promise<JsonObject> {
  return readObject(option, '`--facts`', '{"hostSession.status":"ready"}', io);
}

/**
 * Reads `--config`. Without it, the configuration is `{}`.
 * @throws CliFault 1 if it cannot be read, 2 if it is not a JSON object
 */
export async function readConfig(option: string | undefined, io: CliIo): Promise<JsonObject> {
  return readObject(option, '`--config`', '{"folder":"notes"}', io);
}

async function readObject(
  option: string | undefined,
  name: string,
  example: string,
  io: CliIo,
): Promise<JsonObject> {
  if (option === undefined) return {};
  const value = await readOption(option, name, io);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFault(`Expected ${name} to be a JSON object, such as '${example}'.`);
  return value as JsonObject;
}

/** Reads JSON, `@file` or `-`. */
async function readOption(option: string, name: string, io: CliIo): Promise<unknown> {
  if (option === '-') {
    const text = await readStdin(io, maxBytes).catch((error: unknown) => {
      throw io.signal.aborted ? error : failure(`Cannot read standard input: ${messageOf(error)}.`);
    });
    return parseJson(text, 'standard input');
  }
  if (option.startsWith('@')) {
    const path = option.slice(1);
    const text = await readTextFile(path, io, maxBytes).catch((error: unknown) => {
      throw io.signal.aborted ? error : failure(`Cannot read \`${path}\`: ${messageOf(error)}.`);
    });
    return parseJson(text, `\`${path}\``);
  }
  return parseJson(option, name);
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usageFault(
      `Expected ${where} to be JSON: ${messageOf(error)}. Quote it for the shell, or give ` +
        `\`@file\` or \`-\`.`,
    );
  }
}

// Reads a line that a person types as the answer to a question.

/**
 * Milliseconds without input after which a question is asked. A terminal delivers lines that were
 * typed earlier one after the other, a few per turn.
 */
const quietMs = 30;

/**
 * Discards what was typed before a question is shown, because it cannot be the answer. Resolves
 * when no input has arrived for a moment, at the end of input, and when the question is closed.
 */
export function discardTyped(stdin: CliIo['stdin'], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stdin.off('data', again).off('end', done).off('close', done);
      signal.removeEventListener('abort', done);
      stdin.pause();
      resolve();
    };
    const again = (): void => void timer.refresh();
    const timer = setTimeout(done, quietMs);
    if (signal.aborted || stdin.readableEnded || stdin.destroyed) return done();
    signal.addEventListener('abort', done, { once: true });
    stdin.on('end', done).on('close', done).on('data', again);
    stdin.resume();
  });
}

/** Reads one line. Undefined at the end of input, and when the question is closed. */
export function readLine(stdin: CliIo['stdin'], signal: AbortSignal): Promise<string | undefined> {
  // Input that has ended sends no further event.
  if (stdin.readableEnded || stdin.destroyed) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    // The terminal itself echoes and edits. Without raw mode, there is nothing to restore and
    // Ctrl-C remains a signal.
    const lines = createInterface({ input: stdin, terminal: false });
    const stop = (): void => lines.close();
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', stop);
      resolve(undefined);
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
