/**
 * Reads the lines of a log, oldest first, from all of its files, as a stream, because logs are big.
 */
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { olderFile, olderNumbers } from './log-files.ts';
import { maxLineBytes } from './open-log.ts';

/** A line as it is in its file. */
export interface RawLine {
  /** The line without its line break. */
  readonly bytes: Buffer;
  readonly file: string;
  /** It is the first line of its file. */
  readonly isFirst: boolean;
  /** It has no line break: the process that wrote it ended in the middle, or it is too long. */
  readonly torn: boolean;
}

const newline = 0x0a;

/** The files of a log that exist, oldest first. */
export function filesOf(path: string): readonly string[] {
  const newest = resolve(path);
  const older = [...olderNumbers(newest)].reverse().map((number) => olderFile(newest, number));
  return existsSync(newest) ? [...older, newest] : older;
}

/** The lines of all files, oldest first. @throws the error of a file that cannot be read. */
export async function* linesOf(path: string): AsyncGenerator<RawLine, void, undefined> {
  const files = filesOf(path);
  // Without any file, opening the log throws the reason.
  for (const file of files.length === 0 ? [resolve(path)] : files) yield* linesOfFile(file);
}

async function* linesOfFile(file: string): AsyncGenerator<RawLine, void, undefined> {
  let rest: Buffer[] = [];
  let length = 0;
  let isFirst = true;
  for await (const chunk of createReadStream(file, { highWaterMark: 1_048_576 })) {
    let from = 0;
    const bytes = chunk as Buffer;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      const end = bytes.subarray(from, at);
      yield {
        bytes: rest.length === 0 ? end : Buffer.concat([...rest, end]),
        file,
        isFirst,
        torn: false,
      };
      isFirst = false;
      rest = [];
      length = 0;
      from = at + 1;
    }
    if (from < bytes.length) {
      rest.push(bytes.subarray(from));
      length += bytes.length - from;
    }
    if (length > maxLineBytes) break;
  }
  if (length > 0) yield { bytes: Buffer.concat(rest), file, isFirst, torn: true };
}
