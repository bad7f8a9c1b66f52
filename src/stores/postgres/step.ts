/** Steps as the functions take them. */
import { createHash } from 'node:crypto';
import type { Store } from '../../api/store.ts';
import { decodeText, encodeText } from '../shared/escaped-text.ts';
import { headChars, never } from './tables-sql.ts';

/** Longest message that is sent on: with three bytes for each character it fits into a NOTIFY. */
export const maxMessageChars = 2_600;

/** Most keys that a step locks one by one. One with more locks its space. */
const maxLocks = 128;

const reads: readonly Store.Operation['op'][] = ['get', 'list', 'read', 'sum'];

/** Whether a step needs no lock, since it writes nothing. */
export function onlyReads(operations: readonly Store.Operation[]): boolean {
  return operations.every(({ op }) => reads.includes(op));
}

/** Whether a space is a session, and its name. */
export function partsOf(space: Store.Space): {
  readonly isSession: boolean;
  readonly name: string;
} {
  const { shared, session } = space as { readonly shared?: string; readonly session?: string };
  return { isSession: shared === undefined, name: shared ?? (session as string) };
}

/** The name of a space as a column holds it. */
export function spaceName(space: Store.Space): string {
  return encodeName(partsOf(space).name);
}

/** What tells the messages of one space from those of others. */
export function messageTopic(space: Store.Space): string {
  const { isSession, name } = partsOf(space);
  return createHash('sha256').update(`${isSession} ${name}`).digest('base64').slice(0, 22);
}

/** The channel of a schema. */
export function channelOf(schema: string): string {
  return `host_tools ${schema}`;
}

/** The message of a payload, or undefined if it was too long. */
export function messageOf(payload: string): string | undefined {
  const [, isWhole, message = ''] = /^\S+ \d+(.)(.*)$/s.exec(payload) ?? [];
  return isWhole === ' ' ? decodeText(message) : undefined;
}

/** Only equal messages within one step would be sent once, so each has its number. */
function payloadOf(topic: string, index: number, message: string): string {
  return message.length > maxMessageChars
    ? `${topic} ${index}!`
    : `${topic} ${index} ${encodeText(message)}`;
}

/** What a step locks: everything alone, or some names; nothing if `alone` is undefined. */
interface Locks {
  readonly alone: boolean | undefined;
  readonly locks: readonly string[];
}

export function locksOf(operations: readonly Store.Operation[]): Locks {
  const locks = new Set<string>();
  for (const operation of operations) {
    switch (operation.op) {
      case 'open':
      case 'drop':
        return { alone: true, locks: [] };
      case 'get':
        for (const key of operation.keys) locks.add(`d${encodeName(key)}`);
        break;
      case 'set':
      case 'touch':
      case 'delete':
        locks.add(`d${encodeName(operation.key)}`);
        break;
      case 'append':
      case 'read':
        locks.add(`l${encodeName(operation.log)}`);
        break;
      case 'count':
        locks.add(`c${encodeName(operation.key)}`);
        break;
      case 'add':
      case 'subtract':
      case 'sum':
        locks.add(`s${encodeName(operation.key)}`);
    }
  }
  // Messages need none.
  if (operations.every(({ op }) => op === 'publish')) return { alone: undefined, locks: [] };
  return lockEach(locks);
}

/** The locks of items. */
export function itemLocks(items: readonly Store.Item[]): Locks {
  return lockEach(new Set(items.map(({ owner, key }) => encodeName(`${owner} ${key}`))));
}

function lockEach(names: ReadonlySet<string>): Locks {
  return names.size > maxLocks ? { alone: true, locks: [] } : { alone: false, locks: [...names] };
}

/** The operations as JSON, with the columns of `operationColumns`. */
export function operationsJson(
  operations: readonly Store.Operation[],
  schema: string,
  space: Store.Space,
): string {
  return JSON.stringify(
    operations.map((operation, index) => encoded(operation, index, schema, space)),
  );
}

/** Longer than 60 lines, since it has a case for each operation. */
function encoded(
  operation: Store.Operation,
  index: number,
  schema: string,
  space: Store.Space,
): object {
  const { op } = operation;
  switch (op) {
    case 'open':
    case 'extend':
      return { op, ends: operation.expiresAt };
    case 'drop':
      return { op };
    case 'get':
      return { op, keys: operation.keys.map(encodeName) };
    case 'set':
      return {
        op,
        ...named(operation.key),
        value: encodeText(operation.value),
        version: operation.version,
        ttl: operation.ttlMs,
        ends: operation.expiresAt,
        // A document of no list has none, so that nothing is looked for.
        lists: operation.lists?.length ? operation.lists.map(encodeName) : undefined,
      };
    case 'touch':
      return { op, ...named(operation.key), version: operation.version, ttl: operation.ttlMs };
    case 'delete':
      return { ...operation, key: encodeName(operation.key) };
    case 'list': {
      const { list, after, limit, bytes } = operation;
      const from = after && { after: after.expiresAt ?? never, name: encodeText(after.key) };
      // No value is longer.
      const most = bytes && Math.min(bytes, 2 ** 23);
      return { op, list: encodeName(list), limit, bytes: most, ...from };
    }
    case 'append': {
      const { log, value, keep, after } = operation;
      return { op, key: encodeName(log), value: encodeText(value), keep, after };
    }
    case 'read':
      return { op, key: encodeName(operation.log), after: operation.after, limit: operation.limit };
    case 'count':
      return {
        op,
        key: encodeName(operation.key),
        limit: operation.limit,
        win: operation.windowMs,
      };
    case 'add':
    case 'sum': {
      const { key, amount, max, windowMs: win } = operation;
      return { op, key: encodeName(key), amount: `${amount}`, max: max?.toString(), win };
    }
    case 'subtract': {
      const [number, started] = operation.place.split('.').map(Number);
      return { op, key: encodeName(operation.key), amount: `${operation.amount}`, number, started };
    }
    case 'publish': {
      const message = payloadOf(messageTopic(space), index, operation.message);
      return { op, channel: channelOf(schema), message, versionOf: operation.versionOf };
    }
  }
}

/** A key, and the whole of it where a column holds only a digest, since lists are in its order. */
function named(key: string): object {
  const name = encodeText(key);
  const column = encodeName(key);
  return { key: column, name: column === name ? undefined : name };
}

/**
 * Longest name that is kept as it is, in bytes. Three of them fit into an entry of an index, which
 * PostgreSQL does not have beyond some 2 700 bytes.
 */
const maxNameBytes = 800;

/** A name as a column holds it: of a long one the beginning, and a digest. */
function encodeName(name: string): string {
  const text = encodeText(name);
  if (text.length * 3 <= maxNameBytes || Buffer.byteLength(text) <= maxNameBytes) return text;
  const head = [...text.slice(0, 2 * headChars)].slice(0, headChars).join('');
  // No text that is kept as it is has these two characters.
  return `${head}\x01\x03${createHash('sha256').update(text).digest('hex')}`;
}
