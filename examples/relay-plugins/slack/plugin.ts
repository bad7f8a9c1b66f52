/** An application of type `slack`: it brings the channels of a workspace to an agent's session. */
import {
  connectRelay,
  type RelayConnection,
  relayTool,
} from '../../../src/surfaces/relay-client/index.ts';
import type { RelaySeat } from '../relay-seat.ts';

/** How the plugin reaches Slack. The token stays here: neither relay nor agent sees it. */
export interface SlackAccess {
  /** What goes before the name of a method. Slack's own is `https://slack.com/api/`. */
  readonly url: string;
  /** A bot token with `channels:read`, and with `chat:write` if the bot may post. */
  readonly token: string;
}

interface Channel {
  readonly id: string;
  readonly name: string;
}

interface PostArguments {
  readonly channel: string;
  readonly text: string;
}

/** Most pages of channels that are read: 20 of 200 channels each. */
const maxPages = 20;

/** Connects it. The tools follow the token: without `chat:write` there is none that posts. */
export async function connectSlack(seat: RelaySeat, access: SlackAccess): Promise<RelayConnection> {
  const list = relayTool<Record<string, never>>({
    name: 'slack_list_channels',
    description: 'Lists the public channels of the workspace, each with its id and name.',
    parameters: { type: 'object', additionalProperties: false },
    annotations: { readOnly: true, openWorld: true },
    handler: (_, { signal }) => listChannels(access, signal),
  });
  const post = relayTool<PostArguments>({
    name: 'slack_post_message',
    description: 'Posts a message to a channel, given by its id. Everyone in the channel sees it.',
    parameters: {
      type: 'object',
      properties: {
        channel: { type: 'string', pattern: '^[A-Z0-9]{1,20}$' },
        text: { type: 'string', minLength: 1, maxLength: 4_000 },
      },
      required: ['channel', 'text'],
      additionalProperties: false,
    },
    annotations: { openWorld: true },
    async handler({ channel, text }, { signal }) {
      const { ts } = await callSlack(access, 'chat.postMessage', signal, {
        channel,
        text: escapeText(text),
      });
      return { channel, ts };
    },
  });
  const scopes = await scopesOf(access);
  return connectRelay({
    ...seat,
    pluginType: 'slack',
    tools: scopes.includes('chat:write') ? [list, post] : [list],
  });
}

async function listChannels(access: SlackAccess, signal: AbortSignal): Promise<Channel[]> {
  const channels: Channel[] = [];
  let cursor = '';
  for (let page = 0; page < maxPages; page++) {
    const query = new URLSearchParams({ limit: '200', exclude_archived: 'true', cursor });
    const answer = await callSlack(access, `conversations.list?${query}`, signal);
    for (const { id, name } of answer.channels as readonly Channel[]) channels.push({ id, name });
    cursor = (answer.response_metadata as { next_cursor?: string } | undefined)?.next_cursor ?? '';
    if (cursor === '') break;
  }
  return channels;
}

/** Slack tells the scopes of a token in a header of each answer. */
async function scopesOf(access: SlackAccess): Promise<readonly string[]> {
  const response = await request(access, 'conversations.list?limit=1', AbortSignal.timeout(10_000));
  await read(response);
  return (response.headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim());
}

async function callSlack(
  access: SlackAccess,
  method: string,
  signal: AbortSignal,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  return read(await request(access, method, signal, body));
}

function request(
  { url, token }: SlackAccess,
  method: string,
  signal: AbortSignal,
  body?: object,
): Promise<Response> {
  return fetch(new URL(method, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json; charset=utf-8',
    },
    signal,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** @throws Error for the agent, with Slack's own code, such as `channel_not_found` */
async function read(response: Response): Promise<Readonly<Record<string, unknown>>> {
  if (response.status === 429)
    throw new Error(`Slack asks to wait ${response.headers.get('retry-after') ?? 'some'} seconds.`);
  if (!response.ok) throw new Error(`Slack answered with status ${response.status}.`);
  const answer = (await response.json()) as { ok: boolean; error?: string };
  if (!answer.ok) throw new Error(`Slack refused: ${answer.error ?? 'no reason given'}.`);
  return answer as unknown as Readonly<Record<string, unknown>>;
}

/** Slack's three escapes. With them, no text can mention `<!channel>` or hide an address. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
