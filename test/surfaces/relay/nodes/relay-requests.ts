/**
 * What tests ask of nodes over HTTP: sessions, calls, what became of them, and streams of events.
 */
import type { ToolResult } from '../../../../src/index.ts';

export interface Session {
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
}

/** A request for a call, of an agent. */
export interface Asked {
  readonly requestId: string;
  readonly tool: string;
  readonly args?: object;
  readonly wait?: boolean;
}

/** An answer, read. */
export interface Answered {
  readonly status: number;
  readonly body: {
    readonly error?: string;
    readonly status?: string;
    readonly result?: ToolResult & { readonly output?: unknown };
  } & Record<string, unknown>;
}

async function send(
  method: string,
  url: string,
  token: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Answered> {
  const headers = {
    ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(url, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  return { status: response.status, body: (await response.json()) as Answered['body'] };
}

export async function createSession(node: string): Promise<Session> {
  const { body } = await send('POST', `${node}/api/sessions`, '', {});
  return body as unknown as Session;
}

export function ready(node: string): Promise<Answered> {
  return send('GET', `${node}/readyz`, '');
}

export function ask(node: string, { code, agentToken }: Session, asked: Asked): Promise<Answered> {
  return send('POST', `${node}/api/sessions/${code}/request`, agentToken, { args: {}, ...asked });
}

export function statusOf(
  node: string,
  { code, agentToken }: Session,
  requestId: string,
): Promise<Answered> {
  return send('GET', `${node}/api/sessions/${code}/requests/${requestId}`, agentToken);
}

/** The names of the tools that metadata tells. */
export async function toolsOf(
  node: string,
  { code, agentToken }: Session,
): Promise<readonly string[]> {
  const { body } = await send('GET', `${node}/api/sessions/${code}/metadata`, agentToken);
  return (body.tools as { name: string }[]).map(({ name }) => name).sort();
}

export interface SeenEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export interface SeenEvents {
  readonly events: readonly SeenEvent[];
  of(event: string): readonly SeenEvent[];
  readonly over: boolean;
  close(): void;
}

/** The agent's stream at a node. @param after the last event that the agent has */
export async function agentEvents(
  node: string,
  { code, agentToken }: Session,
  after?: string,
): Promise<SeenEvents> {
  const abort = new AbortController();
  const headers = {
    Authorization: `Bearer ${agentToken}`,
    ...(after === undefined ? {} : { 'Last-Event-ID': after }),
  };
  const response = await fetch(`${node}/api/sessions/${code}/events`, {
    headers,
    signal: abort.signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`Expected a stream, got ${response.status}`);
  const events: SeenEvent[] = [];
  let over = false;
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const fields = Object.fromEntries(
          frame
            .split('\n')
            .map((line) => [
              line.slice(0, line.indexOf(':')),
              line.slice(line.indexOf(':') + 1).trim(),
            ]),
        );
        if (fields.event !== undefined)
          events.push({
            ...(fields.id && { id: fields.id }),
            event: fields.event,
            data: JSON.parse(fields.data ?? '{}'),
          });
      }
    }
  };
  read(response.body)
    .catch(() => {})
    .finally(() => {
      over = true;
    });
  return {
    events,
    of: (event) => events.filter((one) => one.event === event),
    get over() {
      return over;
    },
    close: () => abort.abort(),
  };
}
