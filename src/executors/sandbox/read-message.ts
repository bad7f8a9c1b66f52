/**
 * Reads the messages of a sandbox. They are not trusted, because the handler's code may write to
 * the same channel. So the values of a message are counted before it is parsed, and only own
 * members of the right types are read.
 */
import { isJsonObject, type JsonValue, ownMember } from '../../values/json/index.ts';
import { excessOf } from '../../values/text/json-bounds.ts';
import {
  maxErrorText,
  maxMessage,
  maxMessageDepth,
  maxMessageValues,
  type SandboxMessage,
} from './messages.ts';

type Fields = Readonly<Record<string, (value: JsonValue | undefined) => boolean>>;

const isText = (value: JsonValue | undefined): boolean => typeof value === 'string';
const isNumber = (value: JsonValue | undefined): boolean => typeof value === 'number';
const isCount = (value: JsonValue | undefined): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0;
const isGiven = (value: JsonValue | undefined): boolean => value !== undefined;
const isObject = (value: JsonValue | undefined): boolean => isJsonObject(value);
const isMark = (value: JsonValue | undefined): boolean => value === undefined || value === true;
const isShort = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && value.length <= maxErrorText;
const oneOf =
  (...words: readonly string[]) =>
  (value: JsonValue | undefined): boolean =>
    typeof value === 'string' && words.includes(value);
const maybe =
  (accepts: (value: JsonValue | undefined) => boolean) =>
  (value: JsonValue | undefined): boolean =>
    value === undefined || accepts(value);

/** The members of each message. A message with any other member is refused. */
const shapes: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  ['up', {}],
  ['ready', {}],
  ['pong', {}],
  ['unfit', { why: oneOf('module', 'export'), message: isText }],
  [
    'progress',
    {
      id: isCount,
      done: (value) => value === null || isNumber(value),
      total: maybe(isNumber),
      message: maybe(isText),
    },
  ],
  [
    'emit',
    {
      id: isCount,
      name: isText,
      data: () => true,
      log: isMark,
      lost: maybe(oneOf('not_json', 'too_large')),
    },
  ],
  [
    'ask',
    {
      id: isCount,
      ask: isCount,
      kind: oneOf('tool', 'sample', 'elicit'),
      name: isText,
      input: isGiven,
      options: isObject,
    },
  ],
  ['unask', { id: isCount, ask: isCount }],
  [
    'returned',
    {
      id: isCount,
      kind: oneOf('value', 'ok', 'fail'),
      value: isGiven,
      metadata: maybe(isObject),
      content: isMark,
      lost: maybe(isText),
    },
  ],
  [
    'unreturnable',
    {
      id: isCount,
      reason: oneOf('not_json', 'output_too_large'),
      path: isText,
      message: isText,
    },
  ],
  ['threw', { id: isCount, error: isSentError }],
  ['crashed', { rejection: (value) => typeof value === 'boolean', error: isSentError }],
]);

const bounds = { maxDepth: maxMessageDepth, maxValues: maxMessageValues };

/** A message, or the fault in it. */
export type ReadMessage =
  | { readonly ok: true; readonly message: SandboxMessage }
  | { readonly ok: false; readonly fault: string };

/** Reads one message. Never throws. The time it takes is bounded by the limits of `messages.ts`. */
export function readMessage(text: string): ReadMessage {
  if (text.length > maxMessage) return wrong(`a message of more than ${maxMessage} characters`);
  const excess = excessOf(text, bounds);
  if (excess !== undefined) return wrong(`a message with too many ${nounOf(excess)}`);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return wrong('a message that is not JSON');
  }
  if (!isJsonObject(value)) return wrong('a message that is not an object');
  const kind = ownMember(value, 't');
  const shape = typeof kind === 'string' ? shapes.get(kind) : undefined;
  if (shape === undefined) return wrong('a message of an unknown kind');
  for (const name of Object.keys(value))
    if (name !== 't' && !Object.hasOwn(shape, name))
      return wrong(`a \`${kind}\` message with an unknown member`);
  for (const name of Object.keys(shape))
    if (shape[name]?.(ownMember(value, name)) !== true)
      return wrong(`a \`${kind}\` message with a wrong \`${name}\``);
  return { ok: true, message: value as SandboxMessage };
}

function isSentError(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  return (
    Object.keys(value).every((key) => key === 'name' || key === 'message' || key === 'stack') &&
    isShort(ownMember(value, 'name')) &&
    isShort(ownMember(value, 'message')) &&
    maybe(isShort)(ownMember(value, 'stack'))
  );
}

function nounOf(excess: 'depth' | 'values'): string {
  return excess === 'depth' ? 'levels' : 'values';
}

function wrong(fault: string): ReadMessage {
  return { ok: false, fault };
}
