/**
 * A small local server that answers like Slack's Web API: `conversations.list` with pages and
 * `chat.postMessage`. It keeps what was posted. For trying and testing, without an account.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as the stand-in keeps it. */
export interface PostedMessage {
  /** The id of the channel. */
  readonly channel: string;
  readonly text: string;
}

/** The stand-in while it runs. */
export interface SlackStandIn {
  /** What goes before the name of a method, such as `http://127.0.0.1:4071/api/`. */
  readonly url: string;
  readonly posted: readonly PostedMessage[];
  close(): Promise<void>;
}

/** The workspace of the stand-in. */
export interface SlackWorkspace {
  /** The bot's token. */
  readonly token: string;
  /** What the token may do, such as `channels:read` and `chat:write`. */
  readonly scopes: readonly string[];
  /** Names of channels by their ids. */
  readonly channels: ReadonlyMap<string, string>;
}

type Answer = Readonly<Record<string, unknown>>;

const pageSize = 2;

/** Starts it on a free port of the loopback. */
export async function startSlackStandIn(workspace: SlackWorkspace): Promise<SlackStandIn> {
  const posted: PostedMessage[] = [];
  const server = createServer((request, response) => {
    answer(request, workspace, posted).then(
      (body) => send(response, workspace, body),
      () => send(response, workspace, { ok: false, error: 'internal_error' }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`,
    posted,
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

/** Slack answers with status 200 and `ok: false` if a method fails. */
function send(response: ServerResponse, { scopes }: SlackWorkspace, body: Answer): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('X-OAuth-Scopes', scopes.join(','));
  response.end(JSON.stringify(body));
}

async function answer(
  request: IncomingMessage,
  { token, scopes, channels }: SlackWorkspace,
  posted: PostedMessage[],
): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://slack.test');
  const text = await bodyOf(request);
  if (request.headers.authorization !== `Bearer ${token}`)
    return { ok: false, error: 'invalid_auth' };
  const needs = (scope: string): Answer | undefined =>
    scopes.includes(scope) ? undefined : { ok: false, error: 'missing_scope', needed: scope };
  if (pathname === '/api/conversations.list')
    return needs('channels:read') ?? listPage(channels, searchParams.get('cursor') ?? '0');
  if (pathname === '/api/chat.postMessage')
    return needs('chat:write') ?? post(JSON.parse(text) as Answer, channels, posted);
  return { ok: false, error: 'unknown_method' };
}

function listPage(channels: ReadonlyMap<string, string>, cursor: string): Answer {
  const from = Number(cursor);
  const page = [...channels].slice(from, from + pageSize);
  const next = from + pageSize < channels.size ? String(from + pageSize) : '';
  return {
    ok: true,
    channels: page.map(([id, name]) => ({ id, name, is_archived: false })),
    response_metadata: { next_cursor: next },
  };
}

function post(
  { channel, text }: Answer,
  channels: ReadonlyMap<string, string>,
  posted: PostedMessage[],
): Answer {
  if (typeof channel !== 'string' || !channels.has(channel))
    return { ok: false, error: 'channel_not_found' };
  if (typeof text !== 'string' || text === '') return { ok: false, error: 'no_text' };
  posted.push({ channel, text });
  return { ok: true, channel, ts: `1700000000.${String(posted.length).padStart(6, '0')}` };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  return text;
}
