/** A registry without the part refuses what would mark a secret, and shows everything else. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { partOf } from '../../../src/assembly/part-table.ts';
import { RegistryParts } from '../../../src/core/registry/define-part.ts';
import { Registry } from '../../../src/core/registry/registry.ts';
import { createDefinition } from '../../../src/extend.ts';
import {
  type AnyTool,
  type ApprovalRequest,
  defineTool,
  HostToolRegistry,
  jsonSchema,
  type RegistryOptions,
} from '../../../src/index.ts';
import { jsonSchemas } from '../../../src/parts/json-schema/part.ts';
import { secrets } from '../../../src/parts/secrets/part.ts';

const bare = (options: RegistryOptions = {}): Registry =>
  new Registry(options, new RegistryParts([jsonSchemas()], partOf));
const text = { type: 'string' } as const;
const marked = { type: 'string', secret: true } as const;

function tool(parameters: object, more: object = {}): AnyTool<unknown> {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: jsonSchema(parameters as never),
    handler: (input) => input,
    ...more,
  }) as AnyTool<unknown>;
}

const inObject = (pin: unknown) => ({ type: 'object', properties: { pin } });

describe('without the part', () => {
  test.each<[string, AnyTool<unknown>, string]>([
    ['a field', tool(inObject(marked)), 'parameters'],
    ['the whole input', tool({ type: 'object', secret: true }), 'parameters'],
    ['an element', tool(inObject({ type: 'array', items: marked })), 'parameters'],
    ['a branch', tool(inObject({ anyOf: [text, marked] })), 'parameters'],
    [
      'a definition',
      tool({ ...inObject({ $ref: '#/$defs/p' }), $defs: { p: marked } }),
      'parameters',
    ],
    [
      'a field named `default`',
      tool({ type: 'object', properties: { default: marked } }),
      'parameters',
    ],
    [
      'a field named `properties`',
      tool({ type: 'object', properties: { properties: marked } }),
      'parameters',
    ],
    [
      'a field of zod',
      defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: z.object({ pin: z.string().meta({ secret: true }) }),
        handler: () => 1,
      }) as AnyTool<unknown>,
      'parameters',
    ],
    [
      'the output',
      tool({ type: 'object' }, { outputSchema: jsonSchema(inObject(marked) as never) }),
      'outputSchema',
    ],
    [
      'a knob',
      tool({ type: 'object' }, { policy: { knobs: jsonSchema(inObject(marked) as never) } }),
      'knobs',
    ],
  ])('a mark on %s is refused', (_, definition, place) => {
    const refused = {
      code: 'missing_part',
      message:
        `Tool \`pay\`, \`${place}\`: \`secret: true\` needs the part \`secrets\`. Write ` +
        "`import { secrets } from 'host-tools/secrets'`, and give the registry " +
        '`parts: [secrets()]`.',
      part: 'secrets',
    };
    const registry = bare();
    const session = registry.createSession({ sessionId: 's' });
    expect(() => registry.register(definition)).toThrow(expect.objectContaining(refused));
    expect(() => registry.registerAll([definition])).toThrow(expect.objectContaining(refused));
    expect(() => registry.registerOrReplace(definition)).toThrow(expect.objectContaining(refused));
    expect(() => session.register(definition)).toThrow(expect.objectContaining(refused));
    new Registry({}, new RegistryParts([jsonSchemas(), secrets()], partOf)).register(definition);
    new HostToolRegistry().register(definition);
  });

  test.each<[string, object]>([
    ['a field of that name', { type: 'object', properties: { secret: text } }],
    ['a field of that name with any value', { type: 'object', properties: { secret: true } }],
    ['a mark that is off', inObject({ type: 'string', secret: false })],
    ['data', inObject({ default: { secret: true }, enum: [{ secret: true }] })],
  ])('%s is no mark', (_, parameters) => {
    expect(() => bare().register(tool(parameters))).not.toThrow();
  });

  test('so are paths', () => {
    expect(() => bare({ redact: ['pin'] })).toThrow(
      '`redact` needs the part `secrets`. Write `import { secrets }',
    );
  });

  test('a new definition from outside that has a mark is refused and logged', async () => {
    const logged: unknown[] = [];
    const registry = bare({ logger: { warn() {}, error: (...line) => logged.push(line) } });
    const places: { replace(definition: AnyTool<unknown>): void }[] = [];
    const outside = (pin: object): AnyTool<unknown> =>
      createDefinition(
        {
          name: 'pay',
          description: 'Pays.',
          parameters: jsonSchema(inObject(pin) as never),
          handler: () => 1,
        },
        {
          from: {
            source: 'mcp:x',
            withdrawn: () => undefined,
            onRegistered: (place) => void places.push(place),
          },
        },
      ) as AnyTool<unknown>;
    registry.register(outside(text));
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('pay', {})).success).toBe(true);
    places[0]?.replace(outside(marked));
    expect(await session.call('pay', {})).toMatchObject({ error: { code: 'tool_not_available' } });
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).toContain('pay');
  });

  test('events, questions and errors show everything, as it is', async () => {
    const registry = bare({ rules: [{ effect: 'ask', tools: 'pay' }] });
    const seen: unknown[] = [];
    for (const type of ['tool:pre', 'tool:post', 'tool:error', 'approval:required'] as const)
      registry.events.on(type, (event) => seen.push(event));
    registry.registerAll([
      tool(inObject(text)),
      defineTool({
        name: 'fails',
        description: 'Fails.',
        parameters: z.object({}),
        handler: () => {
          throw new Error('The pin 4711-0815 is wrong.');
        },
      }),
    ]);
    const asked: ApprovalRequest[] = [];
    const session = registry.createSession({
      sessionId: 's',
      approver: (request) => {
        asked.push(request);
        return 'allow_once';
      },
    });
    const input = { pin: '4711-0815' };
    expect(await session.call('pay', input, { callId: '4711-0815' })).toMatchObject({
      output: input,
      metadata: { callId: '4711-0815' },
    });
    expect(asked).toMatchObject([{ input, hiddenFields: [] }]);
    const { error } = await session.call('fails', {});
    expect(error?.message).toContain('4711-0815');
    await session.call('4711-0815', {});
    expect(seen).toMatchObject([
      { type: 'tool:pre', input },
      { type: 'approval:required', request: { input, hiddenFields: [] } },
      { type: 'tool:post', result: { output: input } },
      { type: 'tool:pre' },
      { type: 'tool:error', error: { message: error?.message } },
      { type: 'tool:pre', toolName: '4711-0815' },
      { type: 'tool:error', toolName: '4711-0815' },
    ]);
  });
});

test('a path that is wrong inside is refused when the registry is made', () => {
  expect(() => new HostToolRegistry({ redact: ['a..b'] })).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.stringContaining('names joined by dots, none of them empty, got `a..b`'),
    }),
  );
});
