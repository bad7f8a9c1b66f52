/**
 * A model server on loopback that says what a script says, in four wire formats: Anthropic's
 * messages, OpenAI's responses and chat completions, and Gemini's `generateContent`. Real coding agents run
 * against it without a network.
 *
 * The text `[[script:NAME]]` in what the user wrote picks the script. The agent sends the whole
 * conversation each time, so the turns that it already has say which one comes next.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call that the model asks for. */
export interface ScriptedCall {
  readonly name: string;
  /** Of a tool of Codex that lies in a namespace. */
  readonly namespace?: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/** One answer of the model: calls, or the text that ends its turn. */
export type Turn = readonly ScriptedCall[] | string;

/** Scripts by name. After its last turn, a script says `done`. */
export type Scripts = Readonly<Record<string, readonly Turn[]>>;

/** What the model was sent. */
export interface ModelRequest {
  readonly path: string;
  /** The script that answered, if any. */
  readonly script: string | undefined;
  /** Names of the tools that the agent offers. */
  readonly tools: readonly string[];
  /** The results of the latest calls, as texts. */
  readonly results: readonly string[];
}

export interface ScriptedModel {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** The results that a script's calls came back with, in the order in which the model read them. */
  results(script: string): readonly string[];
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

/** Starts the server on a free port of loopback. */
export async function startScriptedModel(scripts: Scripts): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    answer(request, response, scripts, requests).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    results: (script) =>
      requests.flatMap((request) => (request.script === script ? request.results : [])),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A provider's wire format. */
interface Wire {
  /** The texts of the user, oldest first. */
  said(body: Json): string[];
  /** How many turns with calls the model has already taken. */
  turns(body: Json): number;
  tools(body: Json): string[];
  /** The results that came after the model's latest turn. */
  results(body: Json): string[];
  write(response: ServerResponse, turn: Turn, at: string): void;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  scripts: Scripts,
  requests: ModelRequest[],
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://x').pathname;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const wire = wireOf(path);
  if (request.method !== 'POST' || wire === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    return;
  }
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json;
  const script = wire
    .said(body)
    .map((text) => /\[\[script:(\w+)\]\]/.exec(text)?.[1])
    .find((name) => name !== undefined);
  const at = wire.turns(body);
  requests.push({ path, script, tools: wire.tools(body), results: wire.results(body) });
  const turn = script === undefined ? 'done' : (scripts[script]?.[at] ?? 'done');
  wire.write(response, turn, `${script}_${at}`);
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith('/v1/messages')) return anthropic;
  if (path.endsWith('/responses')) return openai;
  if (path.endsWith('/chat/completions')) return chat;
  if (path.endsWith('generateContent') || path.endsWith('GenerateContent')) return gemini;
  return undefined;
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? list(value)
          .map((part) => textOf(part.text ?? part.content ?? ''))
          .join('\n')
      : value === undefined || value === null
        ? ''
        : JSON.stringify(value);

function events(response: ServerResponse, all: readonly Json[], named: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of all)
    response.write(`${named ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

const anthropic: Wire = {
  said: (body) =>
    list(body.messages).flatMap(({ role, content }) => (role === 'user' ? [textOf(content)] : [])),
  turns: (body) =>
    list(body.messages).filter(
      ({ role, content }) =>
        role === 'assistant' && list(content).some(({ type }) => type === 'tool_use'),
    ).length,
  tools: (body) => list(body.tools).map(({ name }) => String(name)),
  results(body) {
    const last = list(body.messages).findLastIndex(({ role }) => role === 'assistant');
    return list(body.messages)
      .slice(last + 1)
      .flatMap(({ content }) => list(content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => textOf(content));
  },
  write(response, turn, at) {
    const blocks: Json[] =
      typeof turn === 'string'
        ? [{ type: 'text', text: turn }]
        : turn.map(({ name, input }, n) => ({
            type: 'tool_use',
            id: `toolu_${at}_${n}`,
            name,
            input,
          }));
    const message = {
      id: `msg_${at}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-scripted',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const reason = typeof turn === 'string' ? 'end_turn' : 'tool_use';
    events(
      response,
      [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        ...blocks.flatMap((block, index) => [
          {
            type: 'content_block_start',
            index,
            content_block:
              block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} },
          },
          {
            type: 'content_block_delta',
            index,
            delta:
              block.type === 'text'
                ? { type: 'text_delta', text: block.text }
                : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          },
          { type: 'content_block_stop', index },
        ]),
        {
          type: 'message_delta',
          delta: { stop_reason: reason, stop_sequence: null },
          usage: { output_tokens: 1 },
        },
        { type: 'message_stop' },
      ],
      true,
    );
  },
};

const isCall = ({ type }: Json): boolean =>
  /^(?:function|custom_tool|local_shell)_call$/.test(String(type));

const openai: Wire = {
  said: (body) =>
    list(body.input).flatMap(({ role, content }) => (role === 'user' ? [textOf(content)] : [])),
  turns: (body) =>
    new Set(
      list(body.input)
        .filter(isCall)
        .map(({ call_id }) => String(call_id).replace(/_\d+$/, '')),
    ).size,
  tools: (body) => list(body.tools).map(({ name, type }) => String(name ?? type)),
  results(body) {
    const last = list(body.input).findLastIndex(isCall);
    return list(body.input)
      .slice(last + 1)
      .filter(({ type }) => String(type).endsWith('_output'))
      .map(({ output }) => textOf(output));
  },
  write(response, turn, at) {
    const items: Json[] =
      typeof turn === 'string'
        ? [
            {
              type: 'message',
              id: `msg_${at}`,
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: turn, annotations: [] }],
            },
          ]
        : turn.map(({ name, namespace, input }, n) => {
            const call = {
              id: `item_${at}_${n}`,
              call_id: `call_${at}_${n}`,
              name,
              ...(namespace === undefined ? {} : { namespace }),
              status: 'completed',
            };
            return typeof input.$text === 'string'
              ? { type: 'custom_tool_call', ...call, input: input.$text }
              : { type: 'function_call', ...call, arguments: JSON.stringify(input) };
          });
    const base = { id: `resp_${at}`, object: 'response', model: 'scripted', status: 'completed' };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    events(
      response,
      [
        { type: 'response.created', response: { ...base, status: 'in_progress', output: [] } },
        ...items.map((item, output_index) => ({
          type: 'response.output_item.done',
          output_index,
          item,
        })),
        { type: 'response.completed', response: { ...base, output: items, usage } },
      ],
      true,
    );
  },
};

const chat: Wire = {
  said: (body) =>
    list(body.messages).flatMap(({ role, content }) => (role === 'user' ? [textOf(content)] : [])),
  turns: (body) =>
    list(body.messages).filter(({ tool_calls }) => list(tool_calls).length > 0).length,
  tools: (body) => list(body.tools).map((tool) => String((tool.function as Json).name)),
  results(body) {
    const last = list(body.messages).findLastIndex(({ role }) => role === 'assistant');
    return list(body.messages)
      .slice(last + 1)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textOf(content));
  },
  write(response, turn, at) {
    const said = typeof turn === 'string';
    const tool_calls = (said ? [] : turn).map(({ name, input }, index) => ({
      ...{ index, id: `call_${at}_${index}`, type: 'function' },
      function: { name, arguments: JSON.stringify(input) },
    }));
    const delta = { role: 'assistant', ...(said ? { content: turn } : { tool_calls }) };
    const base = {
      id: `chat_${at}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
    };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const finish_reason = said ? 'stop' : 'tool_calls';
    events(
      response,
      [
        { ...base, choices: [{ index: 0, delta, finish_reason: null }] },
        { ...base, choices: [{ index: 0, delta: {}, finish_reason }], usage },
      ],
      false,
    );
  },
};

const gemini: Wire = {
  said: (body) =>
    list(body.contents).flatMap(({ role, parts }) => (role === 'user' ? [textOf(parts)] : [])),
  turns: (body) =>
    list(body.contents).filter(
      ({ role, parts }) =>
        role === 'model' && list(parts).some(({ functionCall }) => functionCall !== undefined),
    ).length,
  tools: (body) =>
    list(body.tools).flatMap(({ functionDeclarations }) =>
      list(functionDeclarations).map(({ name }) => String(name)),
    ),
  results(body) {
    const last = list(body.contents).findLastIndex(({ role }) => role === 'model');
    return list(body.contents)
      .slice(last + 1)
      .flatMap(({ parts }) => list(parts))
      .flatMap(({ functionResponse }) =>
        functionResponse === undefined ? [] : [JSON.stringify((functionResponse as Json).response)],
      );
  },
  write(response, turn) {
    const parts =
      typeof turn === 'string'
        ? [{ text: turn }]
        : turn.map(({ name, input }) => ({ functionCall: { name, args: input } }));
    const answer = {
      candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: 'gemini-scripted',
    };
    events(response, [answer], false);
  },
};
