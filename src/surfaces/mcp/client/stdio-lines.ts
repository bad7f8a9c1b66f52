/** Reads what a child process sends, and bounds it before anything parses it. */
import type {
  StdioClientTransport,
  StdioServerParameters,
} from '@modelcontextprotocol/client/stdio';
import type { JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { excessOf, type JsonBounds } from '../../../values/text/json-bounds.ts';
import { excessText, maxMessageBytes } from './message-guard.ts';

/** How the lines of a transport are handled. */
export interface LineWatch {
  /** The bounds of a line, asked when it is complete. */
  bounds(): JsonBounds;
  /** Called with the bound that a line exceeds. */
  exceeded(message: string): void;
  /**
   * Takes a line that is not for the SDK's client. If it returns false, the line is for the client.
   */
  take(line: string): boolean;
}

/**
 * Where the SDK's transport collects what arrives. If adding a chunk throws, the process is ended.
 */
interface Inside {
  readonly _readBuffer?: { append(chunk: Uint8Array): void };
}

const lineFeed = 10;

/**
 * Counts each line that arrives at the transport, and at a second transport of the same class
 * that the SDK may make to learn the protocol era.
 * @throws Error if the transport is built differently from what this package knows, because it must
 * not be used without bounds
 */
export function watchLines(transport: StdioClientTransport, watch: LineWatch): void {
  const buffer = (transport as unknown as Inside)._readBuffer;
  if (typeof buffer?.append !== 'function')
    throw new Error(
      'What a child process sends cannot be limited with the installed version of ' +
        '`@modelcontextprotocol/client`. Install a version that this package supports.',
    );
  const pass = buffer.append.bind(buffer);
  const reader = lineReader(maxMessageBytes, watch, pass);
  buffer.append = (chunk) => {
    try {
      reader(chunk);
    } catch (error) {
      watch.exceeded((error as Error).message);
      throw error;
    }
  };
  const Transport = transport.constructor as new (
    parameters: StdioServerParameters,
  ) => StdioClientTransport;
  function Bounded(parameters: StdioServerParameters): StdioClientTransport {
    const sibling = new Transport(parameters);
    watchLines(sibling, watch);
    return sibling;
  }
  Object.defineProperty(transport, 'constructor', { value: Bounded });
}

/**
 * Makes a function that takes chunks, and passes on the lines that are within the bounds and not
 * taken, with their line feeds. If a program has written something else before a message in the
 * same line, only the message is passed on. It throws an Error that names the bound that a line
 * exceeds.
 */
export function lineReader(
  maxBytes: number,
  { bounds, take }: Omit<LineWatch, 'exceeded'>,
  pass: (line: Uint8Array) => void,
): (chunk: Uint8Array) => void {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  /** A message has been read. */
  let begun = false;
  const hold = (piece: Uint8Array): void => {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new Error(`The server sent a message of more than ${maxBytes} bytes.`);
    pieces.push(piece);
  };
  const finish = (): void => {
    const [first] = pieces;
    const line = pieces.length === 1 ? asBuffer(first as Uint8Array) : Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    const text = line.toString('utf8');
    const limits = bounds();
    // Any other line is not parsed beyond its first value, which is a number or a text.
    if (/^\s*[[{]/.test(text)) mustFit(text, limits);
    // Most lines are messages as a whole, which need no search. It comes first only until a message
    // has been read, because what is written before that may look like JSON itself.
    const tried = begun && text.startsWith('{');
    if (tried && take(text)) return;
    const message = messageAtEnd(text, limits);
    begun ||= message !== undefined;
    if (message === undefined || message === text) {
      if (tried || !take(text)) pass(line);
    } else if (!take(message)) pass(Buffer.from(message));
  };
  return (chunk) => {
    let start = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, start)) {
      hold(chunk.subarray(start, at + 1));
      finish();
      start = at + 1;
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  };
}

/** No line with more characters is searched for a message. */
const longestSearched = 1_048_576;
/** Most characters that the search of one line reads, over all places where it looks. */
const maxSearched = 16 * longestSearched;

/** The message with which a line ends. Undefined if it ends with none. */
function messageAtEnd(text: string, limits: JsonBounds): string | undefined {
  if (text.length > longestSearched || !text.includes('"jsonrpc"')) return undefined;
  let left = maxSearched;
  for (const { index } of text.matchAll(/\{\s*"/g)) {
    const rest = text.slice(index);
    left -= rest.length;
    if (left < 0) return undefined;
    mustFit(rest, limits);
    if (isMessage(rest)) return rest;
  }
  return undefined;
}

function mustFit(text: string, limits: JsonBounds): void {
  const excess = excessOf(text, limits);
  if (excess !== undefined) throw new Error(excessText(excess, limits));
}

function isMessage(text: string): boolean {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) && value.jsonrpc === '2.0';
  } catch {
    return false;
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
