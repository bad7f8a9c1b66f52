/**
 * What the tests of provider surfaces have in common: a local server that answers from a script,
 * and tools for the models in it.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { z } from 'zod';
import { content, defineTool, fail, type JsonObject, jsonSchema } from '../../src/index.ts';
import { mockTool } from '../../src/surfaces/testing/index.ts';

/** What the server saw of one request. */
export interface SeenRequest {
  readonly path: string;
  readonly body: JsonObject;
}

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
}

const servers: Server[] = [];

/**
 * Answers each request with the next of `answers`, as JSON; with status 500 once they are used up.
 * Closed after the file's tests.
 */
export async function scriptedServer(answers: readonly unknown[]): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({
      path: request.url ?? '',
      body: JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonObject,
    });
    const answer = answers[requests.length - 1];
    response.writeHead(answer === undefined ? 500 : 200, {
      'content-type': 'application/json',
      connection: 'close',
    });
    response.end(JSON.stringify(answer ?? { error: { message: 'The script has ended.' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** For the file that uses {@link scriptedServer}. */
export function closeServersAfterAll(): void {
  afterAll(() =>
    Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve)))),
  );
}

export const png = 'iVBORw0KGgo=';

/**
 * Tools of each kind: a strict one, one that strict mode cannot say, one that fails, one with
 * media, one behind a fact.
 */
export const providerTools = () => [
  defineTool({
    name: 'weather.today',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string().min(1), unit: z.enum(['c', 'f']).default('c') }),
    handler: ({ city, unit }) => ({ city, degrees: unit === 'c' ? 20 : 68 }),
  }),
  defineTool({
    name: 'tag',
    description: 'Sets tags.',
    parameters: jsonSchema<{ tags: Record<string, string> }>({
      type: 'object',
      properties: { tags: { type: 'object', additionalProperties: { type: 'string' } } },
      required: ['tags'],
      additionalProperties: false,
    }),
    handler: ({ tags }) => Object.keys(tags).length,
  }),
  defineTool({
    name: 'push',
    description: 'Fails.',
    parameters: z.object({}),
    handler: () => fail({ message: 'The tree is dirty.', reason: 'dirty_worktree' }),
  }),
  defineTool({
    name: 'camera',
    description: 'Takes a picture.',
    parameters: z.object({}),
    handler: () => [
      content.text('A picture:'),
      content.image(png, 'image/png'),
      content.resource({ uri: 'file:///doc/report.pdf', mimeType: 'application/pdf', blob: png }),
      content.audio(png, 'audio/wav'),
      content.link({ uri: 'https://example.com/', name: 'more' }),
    ],
  }),
  mockTool({ name: 'hidden', requires: [{ fact: 'open', equals: true }] }),
];

/**
 * Calls that a model should not make, in order, with what becomes of each. `arguments` as the model
 * wrote them.
 */
export const hostileCalls: readonly {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly gives: string;
}[] = [
  {
    id: '1',
    name: 'weather_today',
    arguments: '{"city":"Oslo","unit":null}',
    gives: '{"city":"Oslo","degrees":20}',
  },
  { id: '2', name: 'weather_today', arguments: '{"city":"Os', gives: 'Error: ' },
  { id: '3', name: 'weather_today', arguments: null, gives: 'Error: ' },
  {
    id: '4',
    name: 'weather_today',
    arguments: { city: 'Bergen', unit: 'f' },
    gives: '{"city":"Bergen","degrees":68}',
  },
  { id: '5', name: 'weather_today', arguments: '[]', gives: 'Error: ' },
  {
    id: '6',
    name: 'weather_today',
    arguments: '{"city":"Oslo","__proto__":{"unit":"f"}}',
    gives: 'Error: ',
  },
  { id: '7', name: '__proto__', arguments: '{}', gives: 'Error: ' },
  { id: '8', name: 'constructor', arguments: '{}', gives: 'Error: ' },
  { id: '9', name: 'nowhere', arguments: '{}', gives: 'Error: ' },
  { id: '10', name: '', arguments: '{}', gives: 'Error: ' },
  { id: '11', name: 'hidden', arguments: '{}', gives: 'Error: ' },
  { id: '12', name: 'push', arguments: '', gives: 'Error: ' },
  { id: '1', name: 'weather_today', arguments: '{"city":"Oslo"}', gives: 'Error: ' },
  {
    id: '__proto__',
    name: 'weather_today',
    arguments: '{"city":"Rome"}',
    gives: '{"city":"Rome","degrees":20}',
  },
  {
    id: '14',
    name: 'weather_today',
    arguments: JSON.stringify({ city: 'x'.repeat(5_000_000) }),
    gives: 'Error: ',
  },
  {
    id: '15',
    name: 'weather_today',
    arguments: `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
    gives: 'Error: ',
  },
];
