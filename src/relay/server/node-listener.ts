/** Answers requests of `node:http` by a handler of web-standard ones. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { lazyRequest } from '../../http/lazy-request.ts';
import { pipe } from '../../http/node-response.ts';
import { type Answered, isReply } from '../http/reply.ts';
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts';

/** What answers. */
export type Answer = (request: Request, info: { readonly address?: string }) => Promise<Answered>;

/**
 * Milliseconds that a client may take to finish a body that nobody wants. It is given the answer
 * meanwhile.
 */
const unwantedMs = 5_000;

/**
 * @param report called with the error of an answer that failed, which is then a 500
 * @param toRequest for benchmarks, which compare another way to make requests
 */
export function nodeListener(
  answer: Answer,
  report: (error: unknown) => void,
  toRequest = lazyRequest,
): RequestListener {
  const unread = createUnreadAnswers();
  return (incoming, outgoing) => {
    // Said by whoever waits for the body or the answer.
    incoming.on('error', () => {});
    const { remoteAddress } = incoming.socket;
    answer(
      toRequest(incoming, outgoing),
      remoteAddress === undefined ? {} : { address: remoteAddress },
    )
      .catch((error: unknown) => {
        report(error);
        const error500 = {
          error: 'internal_server_error',
          message: 'The relay failed. Try again.',
          code: 'internal_server_error',
        };
        return Response.json(error500, { status: 500 });
      })
      .then((response) => send(response, incoming, outgoing, unread))
      .then(() => letGo(incoming))
      // A body that ends with an error: a stream that was dropped.
      .catch(() => outgoing.destroy());
  };
}

async function send(
  answered: Answered,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  unread: UnreadAnswers,
): Promise<void> {
  const whole = (
    status: number,
    headers: Record<string, string | number>,
    text: string | Buffer | undefined,
  ): void => {
    sendWhole(status, headers, text, incoming, outgoing);
    unread.add(outgoing);
  };
  if (isReply(answered))
    return outgoing.destroyed
      ? undefined
      : whole(answered.status, { ...answered.headers }, answered.text);
  const { body, status } = answered;
  if (outgoing.destroyed) return void (await body?.cancel());
  const headers: Record<string, string | number> = Object.fromEntries(answered.headers);
  if (
    headers['content-type']?.toString().startsWith('text/event-stream') === true &&
    body !== null
  ) {
    letFinish(headers, incoming);
    outgoing.writeHead(status, headers).flushHeaders();
    return pipe(body, outgoing, {
      waits: () => unread.watch(outgoing),
      flows: () => unread.release(outgoing),
    });
  }
  // What is no stream of events is bounded where it is made.
  return whole(
    status,
    headers,
    body === null ? undefined : Buffer.from(await answered.arrayBuffer()),
  );
}

function sendWhole(
  status: number,
  headers: Record<string, string | number>,
  body: string | Buffer | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  letFinish(headers, incoming);
  if (body !== undefined) headers['Content-Length'] = Buffer.byteLength(body);
  else if (status !== 204 && status !== 304 && incoming.method !== 'HEAD')
    headers['Content-Length'] = 0;
  outgoing.writeHead(status, headers).end(body);
}

/** To close at once would cut off a client that is still sending, before it has read why. */
function letFinish(headers: Record<string, string | number>, incoming: IncomingMessage): void {
  if (incoming.complete) return;
  for (const name of Object.keys(headers))
    if (name.toLowerCase() === 'connection') delete headers[name];
}

/**
 * A body that was not read to its end holds the connection up: the client may finish it, for a
 * while.
 */
function letGo(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return;
  incoming.resume();
  const timer = setTimeout(() => incoming.socket.destroy(), unwantedMs);
  incoming.once('close', () => clearTimeout(timer));
}
