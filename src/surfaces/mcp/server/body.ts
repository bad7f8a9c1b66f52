/**
 * Bodies: an incoming one is read up to a limit of size and time, and an outgoing one is buffered
 * up to a limit.
 */
import { type BodyFault, readBodyText } from '../../../values/http/body.ts';
import { excessOf } from '../../../values/text/json-bounds.ts';
import { idOfSkipped, keptOfLine } from './line-splitter.ts';
import { maxDepth, maxValues, refusal, rpcCodes, tooDeep, tooFull } from './rpc.ts';

/** Bytes of a request's body. */
export const maxBodyBytes = 4 * 1_048_576;
/** Bytes that wait for a client that does not read. One message may be larger. */
const maxBufferedBytes = 4 * 1_048_576;

/** The JSON of a POST, or the refusal. */
export async function readBody(request: Request): Promise<{ readonly value: unknown } | Response> {
  const read = await readBodyText(request, maxBodyBytes);
  if ('fault' in read) return refusalOf(read.fault);
  const excess = excessive(read.text);
  if (excess !== undefined) return excess;
  try {
    return { value: JSON.parse(read.text) as unknown };
  } catch {
    return refusalOf('unreadable');
  }
}

function refusalOf(fault: BodyFault): Response {
  if (fault === 'unreadable')
    return refusal(400, rpcCodes.parse, 'Parse error: the body is not valid JSON.');
  const message =
    fault === 'too_large'
      ? `The request body has more than ${maxBodyBytes} bytes.`
      : 'The body did not arrive in time.';
  return refusal(fault === 'too_large' ? 413 : 408, rpcCodes.server, message, {
    Connection: 'close',
  });
}

/** Checks the text, so that nothing is built that is too deep or too large. */
function excessive(text: string): Response | undefined {
  const excess = excessOf(text, { maxDepth, maxValues });
  if (excess === undefined) return undefined;
  const id = idOfSkipped(text.slice(0, keptOfLine), text.slice(-keptOfLine));
  return excess === 'depth'
    ? refusal(400, rpcCodes.invalidRequest, tooDeep, {}, id)
    : refusal(413, rpcCodes.server, tooFull, {}, id);
}

/**
 * The same response with its body read at once and buffered up to a limit; a client that is further
 * behind is disconnected. `onEnd` is called once, however it ends. JSON is already complete, and
 * stays as it is.
 */
export function bounded(response: Response, onEnd: () => void): Response {
  const { body } = response;
  if (
    body === null ||
    response.headers.get('content-type')?.startsWith('application/json') === true
  ) {
    onEnd();
    return response;
  }
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let open = true;
  const end = (): void => {
    if (open) onEnd();
    open = false;
  };
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (!open) return;
        if (done) break;
        if ((controller.desiredSize ?? 0) <= 0) {
          void reader.cancel().catch(() => {});
          controller.error(
            new Error('The client reads too slowly: more than the buffer holds is waiting for it.'),
          );
          return end();
        }
        controller.enqueue(value);
      }
      controller.close();
    } catch (error) {
      if (open) controller.error(error);
    }
    end();
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void pump(controller);
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxBufferedBytes }),
  );
  return new Response(stream, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
}
