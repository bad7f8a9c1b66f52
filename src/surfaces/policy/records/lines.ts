/** Splits text that arrives in pieces into lines. No line is kept longer than it is needed. */
import { MisuseError } from '../../../core.ts';

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
export async function* decoded(
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
export async function* linesOf(
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
