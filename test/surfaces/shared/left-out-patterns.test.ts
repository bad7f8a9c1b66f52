/** Patterns that some providers refuse are in no listing, and every call is checked against them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, jsonSchema, type ToolSession } from '../../../src/index.ts';
import { toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import { toAnthropicTools } from '../../../src/surfaces/anthropic/index.ts';
import { toGeminiTools } from '../../../src/surfaces/gemini/index.ts';
import { toLangChainTools } from '../../../src/surfaces/langchain/index.ts';
import { toOpenAITools } from '../../../src/surfaces/openai/index.ts';
import { askClaudeAgent, askModern } from '../raw-mcp.ts';

const ahead = '^(?!\\.)[a-z.]+$';
const unicode = '^\\p{L}+$';
const registry = new HostToolRegistry({ logger: { warn() {}, error() {} } });
registry.registerAll([
  defineTool({
    name: 'raw',
    description: 'A tool.',
    parameters: jsonSchema({
      type: 'object',
      properties: {
        user: { type: 'string', pattern: ahead },
        names: { type: 'array', items: { $ref: '#/$defs/name' } },
        pattern: { type: 'string', pattern: '^[a-z]$' },
      },
      required: ['user'],
      additionalProperties: false,
      $defs: { name: { type: 'string', pattern: unicode } },
    }),
    handler: () => 'done',
  }),
  defineTool({
    name: 'zod',
    description: 'A tool.',
    parameters: z.object({
      user: z.string().regex(/^(?=.*\d)[a-z\d]+$/),
      // Strict modes cannot express this, so the tool is shown without them.
      rest: z.record(z.string(), z.string().regex(/(a)\1/)).optional(),
    }),
    handler: () => 'done',
  }),
  defineTool({
    name: 'alternatives',
    description: 'A tool.',
    parameters: jsonSchema({
      anyOf: [
        { type: 'object', properties: { a: { type: 'string', pattern: ahead } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    }),
    handler: () => 'done',
  }),
]);
const session: ToolSession = registry.createSession({ sessionId: 's' });

interface Shown {
  readonly shown: unknown;
  /** Undefined where there is no place for warnings. */
  readonly warnings?: readonly {
    readonly tool: string;
    readonly path: string;
    readonly message: string;
  }[];
}

const from = ({
  tools,
  warnings,
}: {
  readonly tools: unknown;
  readonly warnings: Shown['warnings'];
}): Shown => ({
  shown: tools,
  ...(warnings === undefined ? {} : { warnings }),
});

const listings: readonly (readonly [name: string, list: () => Shown | Promise<Shown>])[] = [
  ...(['chat', 'responses', 'agents'] as const).flatMap((api) =>
    [true, false].map(
      (strict) =>
        [
          `openai, ${api}, strict ${strict}`,
          () => from(toOpenAITools(session, { api, strict })),
        ] as const,
    ),
  ),
  ...[true, false].map(
    (strict) =>
      [`anthropic, strict ${strict}`, () => from(toAnthropicTools(session, { strict }))] as const,
  ),
  ...(['json-schema', 'openapi'] as const).map(
    (schema) => [`gemini, ${schema}`, () => from(toGeminiTools(session, { schema }))] as const,
  ),
  ['ai-sdk', () => from(toAiSdkTools(session))],
  [
    'langchain',
    () => {
      const { tools, warnings } = toLangChainTools(session);
      return { shown: tools.map(({ schema }) => schema), warnings };
    },
  ],
  ['claude-agent', async () => ({ shown: await askClaudeAgent(session, 'tools/list') })],
  [
    'mcp',
    async () => ({
      shown: JSON.parse(/\{.*\}/s.exec(await askModern(session, 'tools/list'))?.[0] as string),
    }),
  ],
];

// Loads the package of LangChain.
beforeAll(() => void toLangChainTools(session));

describe.each(listings)('%s', (_name, list) => {
  test('shows no such pattern, and tells it in the description', async () => {
    const patterns: string[] = [];
    const descriptions: string[] = [];
    const collect = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === 'pattern' && typeof inner === 'string') patterns.push(inner);
        else if (key === 'description' && typeof inner === 'string') descriptions.push(inner);
        else collect(inner);
      }
    };
    collect((await list()).shown);
    expect(patterns.filter((pattern) => pattern !== '^[a-z]$')).toEqual([]);
    for (const pattern of [ahead, unicode])
      expect(descriptions.join()).toContain(`(pattern: ${pattern})`);
  });

  test('names each place in `warnings`', async () => {
    const { warnings } = await list();
    if (warnings === undefined) return;
    const places = warnings.filter(({ message }) =>
      message.includes('was left out, because some providers'),
    );
    expect(places.map(({ tool, path }) => `${tool} ${path}`).sort()).toEqual([
      'alternatives /anyOf/0/properties/a/pattern',
      'raw /$defs/name/pattern',
      'raw /properties/user/pattern',
      'zod /properties/rest/additionalProperties/pattern',
      'zod /properties/user/pattern',
    ]);
  });
});

test('calls are still checked against the patterns', async () => {
  const outcome = async (name: string, input: object): Promise<unknown> => {
    const result = await session.call(name, input);
    return result.success ? result.output : result.error.code;
  };
  expect(await outcome('raw', { user: 'kim', names: ['Kim'] })).toBe('done');
  expect(await outcome('raw', { user: '.kim' })).toBe('invalid_input');
  expect(await outcome('raw', { user: 'kim', names: ['5'] })).toBe('invalid_input');
  expect(await outcome('zod', { user: 'kim1', rest: { x: 'aa' } })).toBe('done');
  expect(await outcome('zod', { user: 'kim' })).toBe('invalid_input');
  expect(await outcome('zod', { user: 'kim1', rest: { x: 'ab' } })).toBe('invalid_input');
  expect(await outcome('alternatives', { a: '.' })).toBe('invalid_input');
});

test('what the session itself has is the tool as it was defined', () => {
  expect(session.tool('raw')?.inputSchema).toMatchObject({
    properties: { user: { pattern: ahead } },
  });
});
