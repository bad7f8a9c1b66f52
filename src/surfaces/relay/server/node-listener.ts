/** Connects `node:http` to a handler for web-standard requests. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { lazyRequest } from '../../../values/http/lazy-request.ts';
import { pipe } from '../../../values/http/node-response.ts';
import { type Answered, answer as answerOf, isReply, type Reply } from '../http/responses.ts';
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts';

/** Answers a request. */
export type Answer = (request: Request, info: { readonly address?: string }) => Promise<Answered>;

/**
 * Milliseconds that a client has to finish sending a body that is not read. The answer is sent
 * before this time starts.
 */
const unwantedMs = 5_000;

/**
 * Makes a listener for the `request` event of a Node server.
 * @param report called with the error when an answer fails; the client then gets a 500
 * @param toRequest how requests are made; benchmarks pass another way to compare it
 */
export function nodeListener(
  answer: Answer,
  report: (error: unknown) => void,
  toRequest = lazyRequest,
): RequestListener {
  const unread = createUnreadAnswers();
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { remoteAddress } = incoming.socket;
    const info = remoteAddress === undefined ? {} : { address: remoteAddress };
    try {
      const answered = await answer(toRequest(incoming, outgoing), info).catch((error: unknown) => {
        report(error);
        return failed();
      });
      const sent = send(answered, incoming, outgoing, unread);
      if (sent !== undefined) await sent;
      giveUp(incoming);
    } catch {
      // The body of a dropped stream ends with an error.
      outgoing.destroy();
    }
  };
  return (incoming, outgoing) => {
    // Reading the body or writing the answer reports the error.
    incoming.on('error', ignore);
    void respond(incoming, outgoing);
  };
}

function ignore(): void {}

function failed(): Reply {
  return answerOf(500, {
    error: 'internal_server_error',
    message: 'The relay failed. Try again.',
    code: 'internal_server_error',
  });
}

/** Sends an answer. Returns undefined if it was written in one piece. */
function send(
  answered: Answered,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  unread: UnreadAnswers,
): Promise<void> | undefined {
  if (!isReply(answered)) return sendResponse(answered, incoming, outgoing, unread);
  const { status, headers, text } = answered;
  if (!outgoing.destroyed) sendWhole(status, headers, text, incoming, outgoing, unread);
  return undefined;
}

async function sendResponse(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  unread: UnreadAnswers,
): Promise<void> {
  const { body, status } = response;
  if (outgoing.destroyed) return void (await body?.cancel());
  const headers = Object.fromEntries(response.headers);
  if (headers['content-type']?.startsWith('text/event-stream') === true && body !== null) {
    outgoing.writeHead(status, rawOf(headers, incoming)).flushHeaders();
    return pipe(body, outgoing, {
      waits: () => unread.watch(outgoing),
      flows: () => unread.release(outgoing),
    });
  }
  // Only event streams can grow without bound. Other answers are limited where they are made.
  const whole = body === null ? undefined : Buffer.from(await response.arrayBuffer());
  sendWhole(status, headers, whole, incoming, outgoing, unread);
}

function sendWhole(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  unread: UnreadAnswers,
): void {
  const raw = rawOf(headers, incoming);
  if (body !== undefined) raw.push('Content-Length', String(Buffer.byteLength(body)));
  else if (status !== 204 && status !== 304 && incoming.method !== 'HEAD')
    raw.push('Content-Length', '0');
  outgoing.writeHead(status, raw).end(body);
  unread.add(outgoing);
}

/**
 * Lists the headers as names and values in turn, which Node uses without change. `Connection` is
 * left out while the request is still arriving, because closing the connection at once would cut
 * off the client before it has read the answer.
 */
function rawOf(headers: Readonly<Record<string, string>>, { complete }: IncomingMessage): string[] {
  const raw: string[] = [];
  for (const name of Object.keys(headers))
    if (complete || name.toLowerCase() !== 'connection') raw.push(name, headers[name] as string);
  return raw;
}

/**
 * Discards the rest of a body that was not read, which would otherwise block the connection. A
 * client that takes too long is disconnected.
 */
function giveUp(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return;
  incoming.resume();
  const timer = setTimeout(() => incoming.socket.destroy(), unwantedMs);
  incoming.once('close', () => clearTimeout(timer));
}
