/** A token goes everywhere that a handler can send it, and nobody finds it there. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  content,
  defineTool,
  fail,
  HostToolRegistry,
  type JsonValue,
  memoryStore,
  ok,
  type ToolContext,
  type ToolResult,
} from '../../../src/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import { textOf } from './text-of.ts';

type Context = ToolContext<unknown, unknown, 'github'>;

/** Every way in which a token may be written. */
function spellings(token: string): readonly string[] {
  return [
    token,
    `Bearer ${token}`,
    encodeURIComponent(token),
    JSON.stringify(JSON.stringify({ token })),
    Buffer.from(`x:${token}`).toString('base64'),
    Buffer.from(token).toString('hex').toUpperCase(),
  ];
}

/** What a careless handler does with its token. */
const careless: Readonly<Record<string, (token: string, context: Context) => unknown>> = {
  'returns it as text': (token) => spellings(token).join(' '),
  'returns it in JSON, as a key too': (token) => ({
    [token]: spellings(token),
    deep: [[{ token }]],
  }),
  'returns it as content': (token) => [content.text(`is ${token}`), content.link({ uri: token })],
  'returns it beside its output': (token) => ok('done', { [token]: spellings(token) }),
  'fails with it': (token) =>
    fail({ message: token, reason: token, details: { [token]: spellings(token) } }),
  'throws it': (token) => {
    throw new Error(`401 ${token}`, { cause: new Error(token) });
  },
  'throws the request of a client': (token, { credentials }) => {
    const config = { headers: credentials.github.headers(), url: `https://a.test/?t=${token}` };
    throw Object.assign(new Error('Request failed'), { config, details: { config } });
  },
  'throws it as a text': (token) => Promise.reject(token),
  'returns what is no JSON, at a key that is the token': (token) => ({ [token]: () => 1 }),
  'sends it in events': (token, context) => {
    context.emit(token, { token, all: spellings(token) });
    context.log('error', token);
    context.progress(1, 2, `Bearer ${token}`);
    return 'sent';
  },
  async *'yields it'(token) {
    yield token;
    yield { done: 1, message: token };
    return 'yielded';
  },
  'keeps an output that is over its budget': (token) => `${'a '.repeat(400)}${token} `.repeat(20),
  'is cut in the middle of it': (token) => `${'a'.repeat(597)}${token}`.padEnd(5_000, 'b'),
};

/** A registry in which everything is recorded. */
async function setUp(token: string) {
  const seen: unknown[] = [];
  const texts: string[] = [];
  const log = (...all: unknown[]): void => void seen.push(all);
  const memory = memoryStore();
  const store = {
    ...memory,
    apply: (...step: Parameters<typeof memory.apply>) => {
      texts.push(JSON.stringify(step));
      return memory.apply(...step);
    },
  } as typeof memory;
  const registry = new HostToolRegistry({
    credentials: () => ({ token }),
    logger: { warn: log, error: log },
    store,
    offload: {},
    idempotency: {},
    undo: {},
  });
  const audit = createAuditLog({
    sink: (line) => void texts.push(JSON.stringify(line)),
    key: 'k'.repeat(32),
  });
  audit.attach(registry);
  for (const name of [
    'tool:pre',
    'tool:post',
    'tool:error',
    'tool:event',
    'tool:progress',
  ] as const)
    registry.events.on(name, (event) => void seen.push(structuredClone(event)));
  for (const [name, run] of Object.entries(careless))
    registry.register(
      defineTool({
        name: nameOf(name),
        description: 'Is careless.',
        parameters: z.object({}),
        credentials: { github: {} },
        maxOutputChars: 600,
        outputStrategy: 'offload',
        handler: (_input, context) =>
          run(context.credentials.github.token, context) as Promise<JsonValue>,
        revert: (_output, _input, context) => run(token, context as unknown as Context),
      }),
    );
  registry.register(
    defineTool({
      name: 'outer',
      description: 'Calls another tool, and says what became of it.',
      parameters: z.object({ tool: z.string() }),
      uses: Object.keys(careless).map(nameOf),
      handler: async ({ tool }, context) => {
        const result = await context.tools.call(tool, {});
        context.emit('inner', JSON.parse(JSON.stringify(result)) as JsonValue);
        if (!result.success) throw new Error(`${result.error.message} ${token}`);
        return [JSON.stringify(result), token];
      },
    }),
  );
  const session = registry.createSession({ sessionId: 's1', principal: 'ann' });
  return { registry, session, audit, seen, texts };
}

function nameOf(words: string): string {
  return words.replace(/\W+/g, '_').slice(0, 60);
}

/** What shows a token in a text: any spelling, whatever the case. */
function shows(text: string, token: string): readonly string[] {
  const all = text.toLowerCase();
  return spellings(token).filter((one) => all.includes(one.toLowerCase()));
}

async function everything(token: string, words: string): Promise<string> {
  const { registry, session, audit, seen, texts } = await setUp(token);
  const own = await session.call(nameOf(words), {}, { idempotencyKey: 'k' });
  const again = await session.call(nameOf(words), {}, { idempotencyKey: 'k' });
  const outer = await session.call('outer', { tool: nameOf(words) });
  const undone = own.success ? [await session.revert(own.metadata.callId)] : [];
  const results: ToolResult[] = [own, again, outer, ...undone];
  for (const result of results)
    if (result.success && typeof result.output === 'string') seen.push(result.output);
  await registry.close();
  await audit.close();
  expect(texts.length).toBeGreaterThan(2);
  return [textOf([results, seen]), JSON.stringify([results, seen]), ...texts].join('\n');
}

const token = 'gho_Canary.0123+456/789=[a-z]*$';

describe('a handler that', () => {
  test.each(Object.keys(careless))('%s tells nobody its token', async (words) => {
    expect(shows(await everything(token, words), token)).toEqual([]);
  });
});

test('the output is whole apart from the token, even if it is long', async () => {
  const { registry } = await setUp(token);
  registry.register(
    defineTool({
      name: 'long',
      description: 'Returns megabytes.',
      parameters: z.object({}),
      credentials: { github: {} },
      handler: (_input, { credentials }) => ['a'.repeat(6_000_000), credentials.github.token, 7],
    }),
  );
  const result = await registry.createSession({ sessionId: 's2' }).call('long', {});
  expect(result.output).toEqual(['a'.repeat(6_000_000), '[redacted]', 7]);
});

test('content stays content', async () => {
  const { session } = await setUp(token);
  const result = await session.call(nameOf('returns it as content'), {});
  expect(result.output).toEqual([
    { type: 'text', text: 'is [redacted]' },
    { type: 'resource_link', uri: '[redacted]' },
  ]);
});

test('no token is in any record, whatever it looks like', async () => {
  const visible = fc.array(fc.integer({ min: 0x21, max: 0x7e }), { minLength: 8, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      visible.map((codes) => String.fromCharCode(...codes)),
      fc.constantFrom(...Object.keys(careless)),
      async (any, words) => {
        expect(shows(await everything(any, words), any)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});
