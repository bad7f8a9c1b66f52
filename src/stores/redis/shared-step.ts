/** Steps on a shared space: what the script gets, and what its reply means. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../api/store.ts';
import type { RedisCommands } from './commands.ts';
import { channelOf, streamKey } from './keys.ts';
import { getDocumentsScript, headChars, sharedScript } from './shared-lua.ts';
import {
  type AppendReply,
  documentOf,
  endText,
  Positions,
  pageOf,
  type ReadReply,
  type StepResult,
  sentMessage,
} from './step-lua.ts';

type UseReply = readonly [used: string, waitMs: number];
type Reply =
  | readonly [applied: 1, now: number, results: readonly unknown[]]
  | readonly [
      applied: 0,
      now: number,
      refused: number,
      retryAfterMs: number,
      found: string | null,
      uses: readonly UseReply[],
    ]
  // More has left the windows than one run removes.
  | readonly [again: 2];

/** @param root Of the space. */
export async function sharedStep(
  commands: RedisCommands,
  root: string,
  operations: readonly Store.Operation[],
): Promise<Store.Outcome> {
  let heard: (reply: unknown) => void = () => {};
  try {
    return outcomeOf(
      operations,
      await runStep(commands, root, operations, (reply) => heard(reply)),
    );
  } catch (error) {
    // What comes after all is known to whoever has to take it back.
    const late = new Promise<Reply>((resolve) => {
      heard = resolve as typeof heard;
    }).then((reply) =>
      reply[0] === 2 ? { refused: 0, gone: false, retryAfterMs: 0 } : outcomeOf(operations, reply),
    );
    throw Object.defineProperty(error as Error, 'late', { value: late });
  }
}

function outcomeOf(
  operations: readonly Store.Operation[],
  reply: Exclude<Reply, readonly [2]>,
): Store.Outcome {
  const [, now] = reply;
  if (reply[0] === 1)
    return {
      results: operations.map((operation, index) => resultOf(operation, reply[2][index], now)),
    };
  const [, , refused, retryAfterMs, text, uses] = reply;
  const found = read(text, now);
  return {
    refused,
    gone: false,
    retryAfterMs,
    ...(found === undefined ? undefined : { found: found.document }),
    ...(operations[refused]?.op === 'add' ? { uses: uses.map(useOf) } : undefined),
  };
}

async function runStep(
  { run }: RedisCommands,
  root: string,
  operations: readonly Store.Operation[],
  late: (reply: unknown) => void,
): Promise<Exclude<Reply, readonly [2]>> {
  const [first] = operations;
  if (first?.op === 'get' && operations.length === 1 && first.keys.length > 0) {
    const keys = first.keys.map((key) => `${root}:d:${key}`);
    return (await run(getDocumentsScript, keys, [])) as Exclude<Reply, readonly [2]>;
  }
  const keys = new Positions();
  // The place of what this step adds to sums.
  const values: (string | number)[] = [
    operations.some(({ op }) => op === 'add') ? randomUUID() : '',
  ];
  for (const operation of operations) addValues(values, operation, { root, keys });
  // A cluster finds the server by a key, and messages stay in order only on one of them.
  if (keys.names.length === 0) keys.of(root);
  for (;;) {
    const reply = (await run(sharedScript, keys.names, values, late)) as Reply;
    if (reply[0] !== 2) return reply;
  }
}

/** Adds an operation to the values of the script. */
function addValues(
  values: (string | number)[],
  operation: Store.Operation,
  { root, keys }: { readonly root: string; readonly keys: Positions },
): void {
  switch (operation.op) {
    case 'get': {
      const places = operation.keys.map((key) => keys.of(`${root}:d:${key}`));
      values.push('get', places.length, ...places);
      return;
    }
    case 'set':
    case 'touch':
    case 'delete':
      values.push(operation.op, keys.of(`${root}:d:${operation.key}`), operation.key);
      values.push(...documentValues(operation));
      return;
    case 'list': {
      const { limit, bytes = '', after } = operation;
      const name = listName(operation.list);
      const from = after === undefined ? ['', ''] : [after.expiresAt ?? 'inf', after.key];
      values.push('list', keys.of(`${root}:l:${name}`), name, limit, bytes, ...from);
      return;
    }
    case 'append': {
      const { log, value, keep = '', after = '' } = operation;
      values.push('append', keys.of(streamKey(root, log)), value, keep, after);
      return;
    }
    case 'read':
      values.push('read', keys.of(streamKey(root, operation.log)));
      values.push(operation.after + 1, operation.limit);
      return;
    case 'count':
      values.push('count', keys.of(`${root}:c:${operation.key}`));
      values.push(operation.limit, operation.windowMs);
      return;
    case 'add':
    case 'sum':
    case 'subtract':
      values.push(operation.op, sumPlace(keys, root, operation.key), ...sumValues(operation));
      return;
    case 'publish':
      values.push('publish', channelOf(root), ...sentMessage(operation));
  }
}

function documentValues(operation: Store.Set | Store.Touch | Store.Delete): (string | number)[] {
  if (operation.op === 'touch') return [operation.version, operation.ttlMs];
  const version = operation.version ?? '';
  if (operation.op === 'delete') return [version, operation.required === true ? 1 : 0];
  const lists = operation.lists ?? [];
  const names = lists.length === 0 ? '' : ` ${lists.map(listName).join(' ')} `;
  return [operation.value, version, endText(operation), names];
}

/** The name of a list without spaces, and in as many bytes as characters. */
function listName(list: string): string {
  return encodeURIComponent(list);
}

/** The position of the times of a sum. Its amounts follow. */
function sumPlace(keys: Positions, root: string, key: string): number {
  return keys.of(`${root}:t:${key}`, `${root}:a:${key}`);
}

function sumValues(operation: Store.Add | Store.Sum | Store.Subtract): (string | number)[] {
  const amount = String(operation.amount);
  if (operation.op === 'subtract') return [amount, operation.place];
  const { max, windowMs = '' } = operation;
  return [amount, max === undefined ? '' : String(max), windowMs];
}

function resultOf({ op }: Store.Operation, reply: unknown, now: number): StepResult {
  switch (op) {
    case 'get':
      return (reply as readonly (string | null)[]).map((text) => read(text, now)?.document);
    case 'list':
      return listedOf(reply as readonly string[], now);
    case 'append': {
      const [id, dropped] = reply as AppendReply;
      return { id, dropped };
    }
    case 'read':
      return pageOf(reply as ReadReply);
    case 'set':
    case 'add':
      return reply as StepResult;
    case 'sum':
      return useOf(reply as UseReply);
    default:
      return reply === 1;
  }
}

/** A list has each key, and what is kept of its document. */
function listedOf(reply: readonly string[], now: number): Store.Listed[] {
  const found: Store.Listed[] = [];
  for (let at = 0; at < reply.length; at += 2) {
    const one = read(reply[at + 1], now);
    if (one !== undefined)
      found.push({
        key: reply[at] as string,
        expiresAt: one.expiresAt === 0 ? null : one.expiresAt,
        ...one.document,
      });
  }
  return found;
}

/** A document from its text. The names of its lists have as many characters as bytes. */
function read(
  text: string | null | undefined,
  now: number,
): { readonly document: Store.Document; readonly expiresAt: number } | undefined {
  if (typeof text !== 'string') return undefined;
  const [version, expiresAt, size] = [
    text.slice(0, 16),
    text.slice(16, 32),
    text.slice(32, 37),
  ].map(Number) as [number, number, number];
  const document = documentOf(text.slice(headChars + size), version, { expiresAt, now });
  return document === undefined ? undefined : { document, expiresAt };
}

function useOf([used, waitMs]: UseReply): Store.Use {
  return { used: BigInt(used), retryAfterMs: waitMs < 0 ? undefined : waitMs };
}
