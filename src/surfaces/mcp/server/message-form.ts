/**
 * The forms of a message that the protocol's package accepts. It drops any other message without an
 * answer, so such messages are refused before they get there.
 */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { type RpcId, type RpcMessage, readMessage } from './rpc.ts';

/**
 * The checks below replace the package's schemas, which take far longer than parsing on a message
 * with many members.
 */
const relatedTaskKey = 'io.modelcontextprotocol/related-task';

/** The members of a message, by its kind. It may have no others. */
const members = {
  request: ['jsonrpc', 'id', 'method', 'params'],
  notification: ['jsonrpc', 'method', 'params'],
  response: ['jsonrpc', 'id', 'result', 'error'],
} as const;

/** Reads a message; undefined if the package would drop it. */
export function readExactly(value: unknown): RpcMessage | undefined {
  const message = readMessage(value);
  if (message === undefined) return undefined;
  const object = value as JsonObject;
  const known: readonly string[] = members[message.kind];
  if (!Object.keys(object).every((key) => known.includes(key))) return undefined;
  const fits =
    message.kind === 'response'
      ? isOutcome(object)
      : message.params === undefined || isMeta((message.params as JsonObject)._meta);
  return fits ? message : undefined;
}

/**
 * The id of a request, even if its other members are malformed, so that the client gets an answer.
 * Null if there is none.
 */
export function requestIdOf(value: unknown): RpcId | null {
  if (!isJsonObject(value)) return null;
  const message = readMessage({ jsonrpc: '2.0', id: value.id, method: value.method });
  return message?.kind === 'request' ? message.id : null;
}

/** Whether this can be the `_meta` of a request or a notification. */
function isMeta(meta: JsonValue | undefined): boolean {
  if (meta === undefined) return true;
  if (!isJsonObject(meta)) return false;
  const { progressToken, [relatedTaskKey]: task } = meta;
  return (
    (progressToken === undefined ||
      typeof progressToken === 'string' ||
      Number.isSafeInteger(progressToken)) &&
    (task === undefined || (isJsonObject(task) && typeof task.taskId === 'string'))
  );
}

/** Whether a response has a result or an error, and not both. */
function isOutcome({ result, error }: JsonObject): boolean {
  if (error === undefined)
    return isJsonObject(result) && (result._meta === undefined || isJsonObject(result._meta));
  return (
    result === undefined &&
    isJsonObject(error) &&
    Number.isSafeInteger(error.code) &&
    typeof error.message === 'string'
  );
}
