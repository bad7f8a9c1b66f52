/** Steps on a session: what the script gets, and what its reply means. */
import type { Store } from '../../api/store.ts';
import type { RedisCommands } from './commands.ts';
import { channelOf, streamKey } from './keys.ts';
import { getFieldsScript, sessionScript } from './session-lua.ts';
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

type Fields = readonly (string | null)[];
type Reply =
  | readonly [applied: 1, now: number, results: readonly unknown[]]
  | readonly [
      applied: 0,
      now: number,
      refused: number,
      gone: 0 | 1,
      retryAfterMs: number,
      found: Fields,
    ];

/** @param root Of the session. */
export async function sessionStep(
  { run }: RedisCommands,
  root: string,
  operations: readonly Store.Operation[],
): Promise<Store.Outcome> {
  const [first] = operations;
  let reply: Reply;
  if (first?.op === 'get' && operations.length === 1 && first.keys.length > 0) {
    const fields = first.keys.flatMap((key) => [`v:${key}`, `d:${key}`]);
    reply = (await run(getFieldsScript, [root], fields)) as Reply;
  } else {
    const { keys, values } = argumentsOf(root, operations);
    reply = (await run(sessionScript, keys, values)) as Reply;
  }
  if (reply[0] === 1) {
    const [, now, results] = reply;
    return {
      results: operations.map((operation, index) => resultOf(operation, results[index], now)),
    };
  }
  const [, now, refused, gone, retryAfterMs, fields] = reply;
  const [found] = documentsOf(fields, now);
  return {
    refused,
    gone: gone === 1,
    retryAfterMs,
    ...(found === undefined ? undefined : { found }),
  };
}

/** The keys and the values that the script gets. */
function argumentsOf(
  root: string,
  operations: readonly Store.Operation[],
): { readonly keys: readonly string[]; readonly values: readonly (string | number)[] } {
  const keys = new Positions([root, `${root}:ends`]);
  const fields = new Positions(['e']);
  for (const operation of operations) addFields(fields, operation);
  const read = fields.names.length;
  const values: (string | number)[] = [];
  for (const operation of operations) {
    values.push(operation.op);
    addValues(values, operation, { root, keys, fields });
  }
  return { keys: keys.names, values: [read, fields.names.length, ...fields.names, ...values] };
}

/** Adds the fields that the script reads for an operation. */
function addFields(fields: Positions, operation: Store.Operation): void {
  switch (operation.op) {
    case 'get':
      for (const key of operation.keys) {
        fields.of(`v:${key}`);
        fields.of(`d:${key}`);
      }
      return;
    case 'set':
    case 'touch':
    case 'delete':
      fields.of(`v:${operation.key}`);
      return;
    case 'append':
    case 'read':
      fields.of(`n:${operation.log}`);
      return;
    case 'count':
      fields.of(`c:${operation.key}`);
  }
}

interface Addressed {
  readonly root: string;
  readonly keys: Positions;
  readonly fields: Positions;
}

/** Adds the values of an operation. */
function addValues(
  values: (string | number)[],
  operation: Store.Operation,
  { root, keys, fields }: Addressed,
): void {
  switch (operation.op) {
    case 'open':
    case 'extend':
      values.push(1, operation.expiresAt);
      return;
    case 'drop':
      values.push(1);
      return;
    case 'get':
      values.push(operation.keys.length);
      for (const key of operation.keys) values.push(fields.of(`v:${key}`), fields.of(`d:${key}`));
      return;
    case 'set':
    case 'delete': {
      const { key, version = '' } = operation;
      values.push(fields.of(`v:${key}`), fields.of(`d:${key}`));
      if (operation.op === 'set') values.push(operation.value, version, endText(operation));
      else values.push(version, operation.required === true ? 1 : 0);
      return;
    }
    case 'touch':
      values.push(fields.of(`v:${operation.key}`), fields.of(`d:${operation.key}`));
      values.push(operation.version, operation.ttlMs);
      return;
    case 'append': {
      const { log, value, keep = '', after = '' } = operation;
      values.push(fields.of(`n:${log}`), value, keep, after, keys.of(streamKey(root, log)));
      return;
    }
    case 'read': {
      const { log, after, limit } = operation;
      values.push(fields.of(`n:${log}`), after + 1, limit, keys.of(streamKey(root, log)));
      return;
    }
    case 'count':
      values.push(fields.of(`c:${operation.key}`), operation.limit, operation.windowMs);
      return;
    case 'publish':
      values.push(channelOf(root), ...sentMessage(operation));
  }
}

function resultOf({ op }: Store.Operation, reply: unknown, now: number): StepResult {
  switch (op) {
    case 'get':
      return documentsOf(reply as Fields, now);
    case 'set':
      return reply as StepResult;
    case 'append': {
      const [id, dropped] = reply as AppendReply;
      return { id, dropped };
    }
    case 'read':
      return pageOf(reply as ReadReply);
    default:
      return reply === 1;
  }
}

/** From the fields `v:` and `d:` of each. */
function documentsOf(fields: Fields, now: number): (Store.Document | undefined)[] {
  return Array.from({ length: fields.length / 2 }, (_, index) => {
    const [about, value] = [fields[2 * index], fields[2 * index + 1]];
    if (typeof about !== 'string' || typeof value !== 'string') return undefined;
    const [version = '', expiresAt = '0'] = about.split(' ');
    return documentOf(value, Number(version), { expiresAt: Number(expiresAt), now });
  });
}
