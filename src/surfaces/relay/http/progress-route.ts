/** The progress of calls, as applications report it over HTTP and WebSockets. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { CallProgress, SessionDocument } from '../ports/documents.ts';
import { type RelayError, wrongValue } from '../relay-error.ts';
import { fieldOf, readObject } from './bodies.ts';
import type { NodeParts, SessionHandlers } from './node-parts.ts';
import { callIdOf, noSuchCall } from './response-route.ts';
import { answer } from './responses.ts';

/** Most bytes of a message; a longer one is cut. */
const maxMessageBytes = 256;

/** Makes the handler of the route. */
export function progressRoute(parts: NodeParts): Pick<SessionHandlers, 'progress'> {
  return {
    async progress({ request, bounds, document }) {
      return answer(200, await takeProgress(parts, document, await readObject(request, bounds)));
    },
  };
}

/**
 * Takes `{ requestId, done, total?, message? }`. It has no effect once the call has ended.
 * @throws RelayError 400 `missing_request_id`, `invalid_request`, 404 `request_not_found`, 429
 */
export async function takeProgress(
  { limits, calls }: Pick<NodeParts, 'limits' | 'calls'>,
  { code }: SessionDocument,
  body: JsonObject,
): Promise<JsonObject> {
  const requestId = callIdOf(body);
  const progress = readProgress(body);
  await limits.take('progress', code);
  if (requestId.length > 1_024 || !(await calls.progress(code, requestId, progress)))
    throw noSuchCall();
  return { success: true, requestId };
}

function readProgress(body: JsonObject): CallProgress {
  const done = fieldOf(body, 'done');
  const total = fieldOf(body, 'total') ?? undefined;
  const message = fieldOf(body, 'message') ?? undefined;
  if (!isAmount(done)) throw invalid('done', 'a number from 0', done);
  if (total !== undefined && !isAmount(total))
    throw invalid('total', 'left out or a number from 0', total);
  if (message !== undefined && typeof message !== 'string')
    throw invalid('message', 'left out or a string', message);
  const line = cleanLine(message, maxMessageBytes);
  return {
    done,
    ...(total === undefined ? {} : { total }),
    ...(line === '' ? {} : { message: line }),
  };
}

function isAmount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}

function invalid(field: string, expected: string, got: unknown): RelayError {
  return wrongValue('invalid_request', `\`${field}\``, expected, got);
}
