/** Answers requests of `node:http` by a handler of web-standard ones. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { directText } from './direct-body.ts';
import { nodeRequest } from './node-request.ts';

/** What answers. */
export type Answer = (request: Request, info: { readonly address?: string }) => Promise<Response>;

/** Milliseconds that a client may take to finish a body that nobody wants. It is given the answer meanwhile. */
const unwantedMs = 5_000;

/** Milliseconds without progress after which an answer that its client does not read is given up. */
const unreadMs = 30_000;
const fewBytes = 65_536;

/** @param report is told of an answer that failed, which is then a 500 */
export function nodeListener(answer: Answer, report: (error: unknown) => void): RequestListener {
  return (incoming, outgoing) => {
    // Said by whoever waits for the body or the answer.
    incoming.on('error', () => {});
    const { remoteAddress } = incoming.socket;
    answer(nodeRequest(incoming, outgoing), remoteAddress === undefined ? {} : { address: remoteAddress })
      .catch((error: unknown) => {
        report(error);
        const error500 = { error: 'internal_server_error', message: 'The relay failed. Try again.', code: 'internal_server_error' };
        return Response.json(error500, { status: 500 });
      })
      .then((response) => send(response, incoming, outgoing))
      .then(() => letGo(incoming))
      // A body that ends with an error: a stream that was dropped.
      .catch(() => outgoing.destroy());
  };
}

async function send(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { body } = response;
  if (outgoing.destroyed) return void (await body?.cancel());
  const headers: Record<string, string | number> = Object.fromEntries(response.headers);
  // To close at once would cut off a client that is still sending, before it has read why.
  if (!incoming.complete) delete headers.connection;
  const text = directText(response);
  if (text === undefined && headers['content-type']?.toString().startsWith('text/event-stream') === true && body !== null) {
    outgoing.writeHead(response.status, headers).flushHeaders();
    return stream(body.getReader() as ReadableStreamDefaultReader<Uint8Array>, outgoing);
  }
  // What is no stream of events is bounded where it is made.
  const whole = text ?? Buffer.from(await response.arrayBuffer());
  if (response.status !== 204 && response.status !== 304) headers['content-length'] = Buffer.byteLength(whole);
  outgoing.writeHead(response.status, headers).end(whole);
  // Nobody who does not read holds an answer for ever.
  if (outgoing.writableLength > fewBytes) outgoing.setTimeout(unreadMs, () => outgoing.destroy());
}

/** Takes no more than the connection has room for. */
async function stream(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  let wake = (): void => {};
  const onClose = (): void => {
    wake();
    reader.cancel().catch(() => {});
  };
  const over = reader.closed.catch(() => {});
  outgoing.on('drain', () => wake()).once('close', onClose);
  if (outgoing.destroyed) onClose();
  for (;;) {
    const { done, value } = await reader.read();
    if (outgoing.destroyed) return;
    if (done) return void outgoing.end();
    if (outgoing.write(value)) continue;
    const drained = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // One that was dropped ends while nothing drains.
    await Promise.race([drained, over]);
  }
}

/** A body that was not read to its end holds the connection up: the client may finish it, for a while. */
function letGo(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return;
  incoming.resume();
  const timer = setTimeout(() => incoming.socket.destroy(), unwantedMs);
  incoming.once('close', () => clearTimeout(timer));
}
