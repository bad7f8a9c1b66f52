/** Lines of JSON-RPC that pass between an editor and an agent. */
import type { Writable } from 'node:stream';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import type { CliOutput } from '../cli-io.ts';

/** Most bytes of a line. */
const maxLineBytes = 32_000_000;

/** A line that was read: its exact text, and the message in it; undefined if it may not pass. */
export interface Line {
  readonly text: string;
  readonly message: JsonObject | undefined;
}

/**
 * Splits bytes into lines. A line that is too long is passed on as one without a message, and is
 * not kept.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let length = 0;
  const finish = (): Line => {
    const line = length > maxLineBytes ? { text: '?', message: undefined } : read(pieces);
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, at));
      length += at - start;
      yield finish();
      start = at + 1;
    }
    length += chunk.length - start;
    if (length > maxLineBytes) pieces = [];
    else if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  if (length > 0) yield finish();
}

function read(pieces: readonly Buffer[]): Line {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = decoder.decode(Buffer.concat(pieces));
    return { text, message: text.trim() === '' ? undefined : readMessage(text) };
  } catch {
    return { text: '?', message: undefined };
  }
}

/**
 * The message of a line; undefined for what two readers may read in different ways: an array, a
 * key that is there twice, an id that is no text and no safe integer, and what is not JSON.
 */
function readMessage(text: string): JsonObject | undefined {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value) || value.jsonrpc !== '2.0' || repeatsKey(text)) return undefined;
  const { id, method } = value;
  const isNamed = typeof id === 'string' || Number.isSafeInteger(id);
  if (Object.hasOwn(value, 'method')) {
    const hasId = Object.hasOwn(value, 'id');
    return typeof method === 'string' && (isNamed || !hasId) ? value : undefined;
  }
  const isNull = id === null && Object.hasOwn(value, 'error');
  return isNamed || isNull ? value : undefined;
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** Whether an object of a valid JSON text has a key twice. */
function repeatsKey(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [found] of text.matchAll(token)) {
    if (found === '{') open.push(new Set());
    else if (found === '[') open.push(undefined);
    else if (found === '}' || found === ']') open.pop();
    else if (found === ':') {
      const key = JSON.parse(last) as string;
      const keys = open.at(-1);
      if (keys?.has(key) === true) return true;
      keys?.add(key);
    }
    last = found;
  }
  return false;
}

/** Writes lines, and knows how much its reader has still to read. */
export class LineWriter {
  readonly #output: CliOutput | Writable;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<() => void>();
  #chars = 0;

  /** @param signal Ends all waiting. */
  constructor(output: CliOutput | Writable, signal: AbortSignal) {
    this.#output = output;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  write(line: string): void {
    this.#chars += line.length;
    this.#output.write(`${line}\n`, () => {
      this.#chars -= line.length;
      this.#wake();
    });
  }

  /** Resolves once at most this many characters wait for the reader. */
  async room(chars: number): Promise<void> {
    while (this.#chars > chars && !this.#signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
