/** Opens the files of a log: finds the end of the chain, and recovers a torn last line. */
import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { MisuseError } from '../../values/errors/index.ts';
import { shortened } from '../../values/text/characters.ts';
import { type AuditHead, type LineHash, readLine, renderLine } from './line.ts';
import { olderFile, olderNumbers } from './log-files.ts';
import type { Opened } from './next-line.ts';

/** Longest line that is searched for, in bytes. */
const maxLineBytes = 64 * 1_048_576;
/** How much of a torn line is kept, in characters. */
const maxTornChars = 4_096;
const chunkBytes = 65_536;
const newline = 0x0a;

/**
 * Opens a log, and creates its file if there is none. If an earlier process ended without closing
 * it, a line says so, in place of the last line if that is torn.
 * @param wasLeft Whether a process that has died had the lock of the log.
 * @throws MisuseError `invalid_file` if the file is no log, or if its last whole line is not one of
 * this log and key.
 */
export function openLog(path: string, hash: LineHash, wasLeft: boolean): Opened {
  // Created by appending, because other flags would empty a file.
  closeSync(openSync(path, 'a', 0o600));
  const fd = openSync(path, 'r+');
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile())
      return { head: { seq: 0, hash: '' }, size: 0, file: 1, since: undefined, regular: false };
    const end = lastBreak(fd, stat.size);
    const torn = stat.size - end;
    const older = end === 0 ? newestOf(path, hash) : undefined;
    const head = older?.head ?? (end === 0 ? { seq: 0, hash: '' } : lastHead(path, fd, end, hash));
    const first = end === 0 ? undefined : firstMembers(fd, end, hash);
    const file = end === 0 ? (older?.file ?? 0) + 1 : (first?.file ?? 1);
    const since = first?.at;
    if (torn === 0 && (!wasLeft || head.seq === 0))
      return { head, size: end, file, since, regular: true };
    if (torn > 0 && end === 0) requireBegun(path, fd, torn);
    const at = Date.now();
    const recovered = renderLine(
      {
        type: 'recovered',
        at,
        file: end === 0 ? file : undefined,
        torn: torn === 0 ? undefined : { bytes: torn, text: tornText(fd, end, torn) },
      },
      head,
      hash,
    );
    // Written over the torn line before the rest is cut off. A crash in between leaves a torn line
    // again, so the torn text is recorded in any case.
    const bytes = Buffer.from(recovered.text);
    writeAll(fd, bytes, end);
    ftruncateSync(fd, end + bytes.length);
    return {
      head: recovered.head,
      size: end + bytes.length,
      file,
      since: since ?? at,
      regular: true,
    };
  } finally {
    closeSync(fd);
  }
}

/** What every line begins with. A crash may leave zeros instead. */
const beginning = Buffer.from('{"type":"');

/** Refuses a file of one line that is no line of a log: it would be overwritten. */
function requireBegun(file: string, fd: number, length: number): void {
  const start = readBytes(fd, 0, Math.min(length, beginning.length));
  if (!beginning.subarray(0, start.length).equals(start) && start.some((byte) => byte !== 0))
    throw broken(file);
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** The chain at the end of the newest of the older files; undefined if there is none. */
function newestOf(path: string, hash: LineHash): { head: AuditHead; file: number } | undefined {
  const [number] = olderNumbers(path);
  if (number === undefined) return undefined;
  const file = olderFile(path, number);
  if (!existsSync(file)) return undefined;
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const end = lastBreak(fd, size);
    if (end === 0 || end !== size) throw broken(file);
    return {
      head: lastHead(file, fd, end, hash),
      file: firstMembers(fd, end, hash)?.file ?? number,
    };
  } finally {
    closeSync(fd);
  }
}

function broken(file: string): MisuseError {
  return new MisuseError(
    'invalid_file',
    `createAuditLog: expected the last line of ${file} to be one of an audit log with this ` +
      '`key`. Look at it with `host-tools audit verify`, then move the files of the log away.',
  );
}

/**
 * The head after the last whole line.
 * @param end Right after its line break.
 */
function lastHead(file: string, fd: number, end: number, hash: LineHash): AuditHead {
  const start = lastBreak(fd, end - 1);
  const line = readLine(readBytes(fd, start, end - 1 - start), hash);
  if (line?.fits !== true) throw broken(file);
  return { seq: line.seq, hash: line.hash };
}

function firstMembers(
  fd: number,
  end: number,
  hash: LineHash,
): { file: number | undefined; at: number | undefined } | undefined {
  const chunks: Buffer[] = [];
  for (let from = 0; from < end && from < maxLineBytes; from += chunkBytes) {
    const chunk = readBytes(fd, from, Math.min(chunkBytes, end - from));
    const at = chunk.indexOf(newline);
    chunks.push(at === -1 ? chunk : chunk.subarray(0, at));
    if (at !== -1) break;
  }
  const { file, at } = readLine(Buffer.concat(chunks), hash)?.members ?? {};
  return {
    file: Number.isSafeInteger(file) ? (file as number) : undefined,
    at: typeof at === 'number' ? at : undefined,
  };
}

/** The position right after the last line break before `end`; 0 if there is none. */
function lastBreak(fd: number, end: number): number {
  for (let to = end; to > 0; ) {
    if (end - to > maxLineBytes) throw new Error('The last line of the audit log is too long.');
    const from = Math.max(0, to - chunkBytes);
    const at = readBytes(fd, from, to - from).lastIndexOf(newline);
    if (at !== -1) return from + at + 1;
    to = from;
  }
  return 0;
}

function tornText(fd: number, from: number, length: number): string {
  return shortened(
    readBytes(fd, from, Math.min(length, maxTornChars * 4)).toString('utf8'),
    maxTornChars,
  );
}

function readBytes(fd: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const read = readSync(fd, bytes, done, length - done, from + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

// Reads the lines of a log, oldest first, from all of its files, as a stream, because logs are big.

/** A line as it is in its file. */
export interface RawLine {
  /** The line without its line break. */
  readonly bytes: Buffer;
  /** Undefined for a line of a store. */
  readonly file: string | undefined;
  /** It is the first line of its file. */
  readonly isFirst: boolean;
  /** It has no line break: the process that wrote it ended in the middle, or it is too long. */
  readonly torn: boolean;
}

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
