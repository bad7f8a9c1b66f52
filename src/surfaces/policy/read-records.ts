/** Reads recorded calls from text: one record per line, a list of records, or a tape. */
import { MisuseError } from '../../core.ts';
import { describe, messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { readOptions, type TableOf, text, withDefault } from '../../values/options/index.ts';
import { type BacktestRecord, inFile, readRecord } from './record.ts';
import { noCall } from './records/audit-format.ts';
import { documentFormatOf, recordOf } from './records/formats.ts';

/** Options of {@link readRecords}. */
export interface ReadRecordsOptions {
  /**
   * The name of the text in messages, such as the path of its file.
   * @default "readRecords"
   */
  readonly name?: string | undefined;
}

const table = { name: withDefault(text(1), 'readRecords') } satisfies TableOf<ReadRecordsOptions>;

/** Most characters of a line: a call's arguments are at most 1 MiB, and the rest is small. */
const maxLine = 2 * 1_048_576;
/** Most characters of a text that has to be read as a whole. */
const maxDocument = 64 * 1_048_576;

/**
 * Reads recorded calls from text that comes in pieces, such as a stream of a file. A text with one
 * record per line may have any length, since no more than a line is kept; a line has at most 2 MiB.
 * A text that is one JSON document, a list of records or a tape, is read as a whole and has at most
 * 64 MiB; it is parsed at once, so a long log is better written with one record per line.
 * @param chunks A stream, or another iterable, of text or of bytes of UTF-8.
 * @throws MisuseError (as a rejection) `invalid_file`, which names the line or the index, the
 * field, what was expected and what it got; `invalid_option`.
 *
 * @example
 * ```ts
 * import { backtest, readRecords } from 'host-tools/policy';
 * import { createReadStream } from 'node:fs';
 *
 * const records = readRecords(createReadStream('calls.jsonl'), { name: 'calls.jsonl' });
 * const { changed } = await backtest(records, {
 *   registry,
 *   after: [{ effect: 'ask', tools: 'refund', when: { amount: { gt: 100 } } }],
 * });
 * ```
 */
export async function* readRecords(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  options: ReadRecordsOptions = {},
): AsyncGenerator<BacktestRecord, void, undefined> {
  const { name } = readOptions('readRecords', options, table);
  if (!isStream(chunks))
    throw new MisuseError(
      'invalid_option',
      `readRecords: expected a stream or another iterable of text, got ${describe(chunks)}.`,
    );
  const texts = decoded(chunks, name);
  try {
    const head = await headOf(texts);
    if (!beginsWithRow(head)) {
      const text = await wholeOf(head, texts, name);
      return yield* rowsOf(parse(text, name, 'one record per line, or one JSON document'), name);
    }
    for await (const { number, text } of linesOf(after(head, texts), name, maxLine)) {
      const where = `${name}: line ${number}`;
      yield* checkedRow(parse(text, where), where);
    }
  } finally {
    // Closes the stream even if a record is malformed.
    await texts.return(undefined);
  }
}

/** A text is refused, because it is probably the path of a file. */
function isStream(chunks: unknown): boolean {
  return (
    typeof chunks === 'object' &&
    chunks !== null &&
    (Symbol.asyncIterator in chunks || Symbol.iterator in chunks)
  );
}

/** The beginning of the text, up to the end of its first line or to the longest line. */
async function headOf(texts: AsyncGenerator<string>): Promise<string> {
  // Looks at each piece once, because there may be as many pieces as characters.
  const parts: string[] = [];
  let length = 0;
  let isBlank = true;
  while (length <= maxLine) {
    const next = await texts.next();
    if (next.done === true) break;
    parts.push(next.value);
    length += next.value.length;
    const text: string = isBlank ? next.value.trimStart() : next.value;
    isBlank &&= text === '';
    if (text.includes('\n')) break;
  }
  return parts.join('');
}

/** Whether the first line is a record, so that the text has one per line. */
function beginsWithRow(head: string): boolean {
  const [first = ''] = head.trimStart().split('\n', 1);
  if (first.length > maxLine) return false;
  // A text without any line has no records in either form.
  if (first === '') return true;
  try {
    const value = JSON.parse(first) as JsonValue;
    return isJsonObject(value) && documentFormatOf(value) === undefined;
  } catch {
    return false;
  }
}

async function* after(head: string, texts: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head;
  yield* texts;
}

async function wholeOf(head: string, texts: AsyncGenerator<string>, name: string): Promise<string> {
  const parts = [head];
  let { length } = head;
  for await (const part of texts) {
    length += part.length;
    if (length > maxDocument)
      throw new MisuseError(
        'invalid_file',
        `${name}: expected one record per line, or at most ${maxDocument} characters. The first ` +
          'line is not a record.',
      );
    parts.push(part);
  }
  return parts.join('');
}

function parse(text: string, where: string, expected = 'JSON'): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new MisuseError('invalid_file', `${where}: expected ${expected}: ${messageOf(error)}.`);
  }
}

function* rowsOf(value: JsonValue, name: string): Generator<BacktestRecord> {
  const format = documentFormatOf(value);
  if (format !== undefined) return yield* format.read(value, name);
  if (!Array.isArray(value))
    throw new MisuseError(
      'invalid_file',
      `${name}: expected one record per line, a list of records or a tape.`,
    );
  for (const [index, row] of value.entries()) yield* checkedRow(row, `${name}: record ${index}`);
}

function* checkedRow(row: JsonValue, where: string): Generator<BacktestRecord> {
  const record = recordOf(row, where);
  if (record === noCall) return;
  readRecord(record, where, inFile);
  yield record;
}

// Splits text that arrives in pieces into lines. No line is kept longer than it is needed.

/** A line of a text. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * Decodes bytes as UTF-8. A byte order mark is dropped.
 * @throws MisuseError `invalid_file` for other encodings.
 */
async function* decoded(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  where: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks)
      yield typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    // Only the decoder throws a TypeError with this code. Errors of the stream are passed on.
    if ((error as { code?: unknown }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw new MisuseError('invalid_file', `${where}: expected UTF-8 text, got other bytes.`, {
      cause: error,
    });
  }
}

/**
 * The lines that are not blank. The text after the last line break is one too.
 * @throws MisuseError `invalid_file` for a line of more than `maxChars` characters.
 */
async function* linesOf(
  texts: AsyncIterable<string>,
  where: string,
  maxChars: number,
): AsyncGenerator<Line> {
  let number = 1;
  let parts: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    length += part.length;
    if (length > maxChars)
      throw new MisuseError(
        'invalid_file',
        `${where}: line ${number}: expected at most ${maxChars} characters, got more.`,
      );
    if (part !== '') parts.push(part);
  };
  const take = (): Line => {
    const line = { number, text: parts.join('').trim() };
    number++;
    parts = [];
    length = 0;
    return line;
  };
  for await (const text of texts) {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      add(text.slice(from, end));
      const line = take();
      if (line.text !== '') yield line;
      from = end + 1;
    }
    add(text.slice(from));
  }
  const last = take();
  if (last.text !== '') yield last;
}
