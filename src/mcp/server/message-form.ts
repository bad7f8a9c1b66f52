/**
 * The forms of a message that the protocol's package takes. What has another form it drops without
 * an answer, so that is refused before.
 */
import type { JsonObject, JsonValue } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { type RpcId, type RpcMessage, readMessage } from './rpc.ts';

/**
 * The package's schemas are not run here: on a message with many members they take far longer than
 * reading it.
 */
const relatedTaskKey = 'io.modelcontextprotocol/related-task';

/** Members of a message, by its kind. Others make it none. */
const members = {
  request: ['jsonrpc', 'id', 'method', 'params'],
  notification: ['jsonrpc', 'method', 'params'],
  response: ['jsonrpc', 'id', 'result', 'error'],
} as const;

/** Reads a message that the package takes; undefined for what it would drop. */
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
 * The id of a request, also where its other members are no good: whoever waits for its answer gets
 * one. Null where there is none.
 */
export function requestIdOf(value: unknown): RpcId | null {
  if (!isJsonObject(value)) return null;
  const message = readMessage({ jsonrpc: '2.0', id: value.id, method: value.method });
  return message?.kind === 'request' ? message.id : null;
}

/** Of a request or a notification. */
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

/** Of a response: a result or an error, not both. */
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
