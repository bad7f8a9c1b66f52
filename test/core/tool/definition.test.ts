import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as zm from 'zod/mini';
import { z as z3 } from 'zod3';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  isMisuseError,
  MisuseError,
} from '../../../src/index.ts';
import { thrownBy } from '../call/define.ts';

const good = {
  name: 'my_tool',
  description: 'Does it.',
  parameters: { type: 'object' },
  handler: () => 1,
} as const;
const make = (more: Record<string, unknown> = {}): AnyTool<unknown> =>
  defineTool({ ...good, ...more } as never) as AnyTool<unknown>;

describe('bad values of each field throw a MisuseError with tool, field, expected and got', () => {
  const notText: unknown[] = [null, 7, true, [], {}];
  const durations: unknown[] = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '100', null];
  const counts: unknown[] = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null];
  const lists: unknown[] = [null, 'text', [7], [''], [null], {}];
  const table: [field: string, bad: readonly unknown[]][] = [
    ['description', [undefined, '', ' \n', ...notText]],
    ['title', notText],
    ['version', notText],
    ['category', notText],
    ['timeoutMs', durations],
    ['idleTimeoutMs', durations],
    ['maxOutputChars', counts],
    ['maxConcurrency', counts],
    ['tags', lists],
    ['provides', lists],
    ['events', lists],
    ['uses', lists],
    ['annotations', [null, 'x', { readOnly: 'yes' }, { destructive: 1 }]],
    [
      'requiresApproval',
      [
        null,
        'yes',
        1,
        {},
        { title: '' },
        { title: 'x', risk: 'extreme' },
        { title: 'x', message: 7 },
      ],
    ],
    ['policy', [null, 7, 'x', true]],
    ['policy.check', [{ policy: { check: true } }]],
    [
      'requires',
      [
        null,
        {},
        ['f'],
        [{}],
        [{ fact: '' }],
        [{ fact: 'f' }],
        [{ fact: 'f', equals: {} }],
        [{ fact: 'f', in: 'x' }],
        [{ fact: 'f', in: [{}] }],
        [{ fact: 'f', equals: 1, in: [1] }],
      ],
    ],
    ['exposure', ['hidden', null, true]],
    ['scope', ['global ', null, 'request']],
    ['parallelSafe', ['yes', 1, null]],
    ['resourceKey', [7, null, {}]],
    ['outputStrategy', ['tail', null]],
    ['handler', ['x', 7, {}]],
    ['parameters', [undefined, null, 'object', 7, () => 1, []]],
    ['outputSchema', [null, 'object', 7]],
  ];
  test.each(
    table.flatMap(([field, bad]) =>
      bad.map((value) => ({
        field,
        value,
        shown: typeof value === 'object' ? JSON.stringify(value) : String(value),
      })),
    ),
  )('$field: $shown', ({ field, value }) => {
    const thrown = thrownBy(() =>
      make(field === 'policy.check' ? (value as Record<string, unknown>) : { [field]: value }),
    );
    expect(thrown).toBeInstanceOf(MisuseError);
    const { message, code } = thrown as MisuseError;
    expect(code).toBe(
      field === 'parameters' || field === 'outputSchema' ? 'invalid_schema' : 'invalid_definition',
    );
    expect(message).toContain('`my_tool`');
    expect(message).toContain(field);
    expect(message).toMatch(/expected/i);
    expect(message).toMatch(/, got /);
  });

  test.each([
    ['zod', z.string(), 'string'],
    ['zod, a list', z.array(z.string()), 'array'],
    ['zod, a tuple', z.tuple([z.string()]), 'array'],
    ['zod 3', z3.number(), 'number'],
    ['zod 3, a list', z3.array(z3.number()), 'array'],
    ['zod mini', zm.boolean(), 'boolean'],
    ['JSON Schema', { type: 'string' }, 'string'],
  ])('a schema of no object is refused by defineTool: %s', (_, schema, type) => {
    for (const field of ['parameters', 'inputSchema']) {
      const error = thrownBy(() => make({ parameters: undefined, [field]: schema }));
      expect(error).toMatchObject({ code: 'invalid_schema' });
      expect((error as Error).message).toContain(
        `Tool \`my_tool\`, \`${field}\`: expected a schema of an object (type "object"), got type ` +
          `"${type}".`,
      );
    }
    expect(() => make({ outputSchema: schema })).not.toThrow();
  });

  test('a schema that refers to one that does not exist yet is converted at `register` only', () => {
    let later: z.ZodType | undefined;
    const tool = make({ parameters: z.object({ a: z.lazy(() => later!) }) });
    later = z.string();
    expect(tool.parameters).toMatchObject({ properties: { a: { type: 'string' } } });
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      'no way to run',
      { handler: undefined },
      /exactly one of `handler` \(or its other name `execute`\), `create`, `executor` or `external`, got none/,
    ],
    [
      'two ways to run',
      { create: () => ({ handler: () => 1 }) },
      /exactly one.*got handler and create/,
    ],
    [
      'create that is no function',
      { handler: undefined, create: {} },
      /`create` to be a function, got an object/,
    ],
    [
      'an executor without execute',
      { handler: undefined, executor: { kind: 'worker' } },
      /`executor`.*`execute`/,
    ],
    [
      'an executor that is never freed',
      {
        handler: undefined,
        executor: { kind: 'worker', execute: async () => 1, dispos: () => {} },
      },
      /`dispos`; did you mean `dispose`/,
    ],
    [
      'an executor with an unknown field',
      { handler: undefined, executor: { execute: async () => 1, workers: 4 } },
      /`executor`: unknown field `workers`; expected one of `kind`, `execute`, `dispose`/,
    ],
    [
      'an executor whose `dispose` is no function',
      { handler: undefined, executor: { execute: async () => 1, dispose: 5 } },
      /expected `executor.dispose` to be a function, got `5` \(number\)/,
    ],
    ['session scope with a handler', { scope: 'session' }, /`create` with `scope: "session"`/],
    [
      'global scope with create',
      { handler: undefined, create: () => ({ handler: () => 1 }), scope: 'global' },
      /`handler` with `scope: "global"`/,
    ],
    [
      'a field that nobody knows',
      { timeout: 5 },
      /unknown field `timeout`; did you mean `timeoutMs`\?$/,
    ],
    [
      'a policy field that nobody knows',
      { policy: { chek: () => 1 } },
      /unknown field `policy.chek`; did you mean `check`\?$/,
    ],
    ['knobs that are no schema', { policy: { knobs: 7 } }, /`policy.knobs`.*got `7` \(number\)/],
    [
      'an annotation that nobody knows',
      { annotations: { readonly: true } },
      /unknown field `annotations.readonly`; did you mean `readOnly`\?$/,
    ],
    ['something else in uses', { uses: [{ name: 'x' }] }, /`uses`.*definitions/],
  ])('%s', (_, more, message) => {
    expect(thrownBy(() => make(more))).toMatchObject({
      name: 'MisuseError',
      code: 'invalid_definition'.replace(
        'definition',
        more.policy !== undefined && 'knobs' in (more.policy as object) ? 'schema' : 'definition',
      ),
      message: expect.stringMatching(message),
    });
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['empty', ''],
    ['blank', ' '],
    ['untrimmed', ' a'],
    ['too long', 'x'.repeat(1_025)],
    ['a line break', 'a\nb'],
    ['NUL', 'a\0b'],
    ['right-to-left override', 'a\u202Eb'],
    ['zero-width joiner', 'a\u200Db'],
    ['not NFC', 'e\u0301'],
    ['a lone surrogate', 'a\ud800'],
    ['__proto__', '__proto__'],
  ])('name: %s is refused, not mended', (_, name) => {
    const thrown = thrownBy(() => make({ name }));
    expect(thrown).toMatchObject({
      code: 'invalid_definition',
      message: expect.stringMatching(/`name`.*, got /s),
    });
    expect((thrown as Error).message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  });

  test.each([
    'x',
    'a b',
    'a.b/c-d_e',
    'Ärger',
    '日本語',
    'constructor',
    'toString',
    'x'.repeat(1_024),
    '😀',
  ])('name: `%s` is one', (name) => {
    expect(make({ name }).name).toBe(name);
  });

  test.each([undefined, null, 7, 'x', [], () => 1])('defineTool(%s)', (config) => {
    expect(isMisuseError(thrownBy(() => defineTool(config as never)))).toBe(true);
  });

  test('limits are taken at their edges', () => {
    expect(() =>
      make({ timeoutMs: 0.5, idleTimeoutMs: 2 ** 31 - 1, maxOutputChars: 1, maxConcurrency: 1 }),
    ).not.toThrow();
  });
});

describe('a definition is opaque and frozen', () => {
  const definition = make({
    title: 'My tool',
    version: '1.2',
    category: 'x',
    tags: ['a'],
    annotations: { readOnly: true },
    outputSchema: z.object({ ok: z.boolean() }),
    policy: { check: () => 1 },
    requiresApproval: true,
    requires: [{ fact: 'f', equals: 1 }],
  });

  test(
    'it shows name, description, schemas as JSON Schema, annotations, tags, version and ' +
      'fingerprint',
    () => {
      expect(definition).toMatchObject({
        name: 'my_tool',
        description: 'Does it.',
        title: 'My tool',
        version: '1.2',
        category: 'x',
        tags: ['a'],
        annotations: { readOnly: true },
      });
      expect(definition.parameters).toEqual({ type: 'object' });
      expect(definition.outputSchema).toMatchObject({
        type: 'object',
        properties: { ok: { type: 'boolean' } },
      });
      expect(definition.fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
    },
  );

  test('it shows nothing that runs or decides', () => {
    const shown = definition as unknown as Record<string, unknown>;
    for (const key of [
      'handler',
      'create',
      'executor',
      'policy',
      'check',
      'requiresApproval',
      'requires',
      'uses',
      'resourceKey',
      'execute',
    ])
      expect(shown[key], key).toBeUndefined();
    expect(Object.values(shown).some((value) => typeof value === 'function')).toBe(false);
  });

  test('nothing of it can be changed', () => {
    const shown = definition as unknown as Record<string, Record<string, unknown>>;
    for (const key of ['name', 'description', 'handler', 'fingerprint', 'parameters'])
      expect(() => {
        (shown as Record<string, unknown>)[key] = 1;
      }, key).toThrow(TypeError);
    for (const key of ['annotations', 'tags', 'parameters', 'outputSchema'])
      expect(() => {
        (shown[key] as Record<string, unknown>).x = 1;
      }, key).toThrow(TypeError);
    expect(() => Object.setPrototypeOf(definition, {})).toThrow(TypeError);
  });

  test('what the config’s owner changes later changes nothing', () => {
    const config = {
      ...good,
      tags: ['a'],
      annotations: { readOnly: true },
      parameters: { type: 'object', properties: {} as Record<string, unknown> },
      uses: ['x'],
    };
    const made = defineTool(config as never) as AnyTool<unknown>;
    const before = made.fingerprint;
    config.tags.push('b');
    config.annotations.readOnly = false;
    config.parameters.properties.extra = {};
    config.handler = () => 'other' as never;
    expect(made.tags).toEqual(['a']);
    expect(made.annotations).toEqual({ readOnly: true });
    expect(made.parameters).toEqual({ type: 'object', properties: {} });
    expect(made.fingerprint).toBe(before);
  });
});

describe('the fingerprint', () => {
  const of = (more: Record<string, unknown> = {}) => make(more).fingerprint;

  test(
    'is the same for the same name, description, schemas, annotations and version, in whatever ' +
      'order keys stand',
    () => {
      expect(
        of({ parameters: { type: 'object', properties: { a: { type: 'string' }, b: {} } } }),
      ).toBe(of({ parameters: { properties: { b: {}, a: { type: 'string' } }, type: 'object' } }));
      expect(of({ annotations: {} })).toBe(of());
    },
  );

  test.each<[string, Record<string, unknown>]>([
    ['the name', { name: 'other' }],
    ['the description', { description: 'Does it not.' }],
    ['the parameters', { parameters: { type: 'object', properties: { a: {} } } }],
    ['the output schema', { outputSchema: { type: 'object' } }],
    ['the annotations', { annotations: { destructive: true } }],
    ['the version', { version: '2' }],
  ])('changes with %s', (_, more) => {
    expect(of(more)).not.toBe(of());
  });

  test.each<[string, Record<string, unknown>]>([
    ['the handler', { handler: () => 2 }],
    ['the title', { title: 'x' }],
    ['the tags', { tags: ['x'] }],
    ['the timeout', { timeoutMs: 5 }],
    ['the policy', { policy: { check: () => 1 } }],
  ])('does not change with %s', (_, more) => {
    expect(of(more)).toBe(of());
  });

  test('is the same by whichever kind the same schema was given', () => {
    expect(of({ parameters: z.object({ a: z.string() }) })).toBe(
      of({
        parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      }),
    );
  });
});

describe('a definition of another installed copy is refused with that reason', () => {
  test('anything that bears the brand and is not ours', () => {
    const registry = new HostToolRegistry();
    const foreign = {
      name: 'theirs',
      description: 'd',
      [Symbol.for('host-tools.definition')]: true,
    };
    for (const act of [
      () => registry.register(foreign as never),
      () => registry.registerAll([foreign as never]),
      () => registry.registerOrReplace(foreign as never),
      () => registry.createSession({ sessionId: 's' }).register(foreign as never),
      () => registry.scope('x').register(foreign as never),
      () => registry.scope('y', { prefix: 'p_' }).register(foreign as never),
    ]) {
      expect(thrownBy(act)).toMatchObject({
        code: 'foreign_definition',
        message: expect.stringMatching(/`theirs`.*another installed copy.*Deduplicate/s),
      });
    }
    expect(registry.count).toBe(0);
  });

  test('a MisuseError of another copy is recognised', () => {
    expect(isMisuseError({ [Symbol.for('host-tools.misuse')]: true })).toBe(true);
    expect(isMisuseError(new Error('x'))).toBe(false);
    expect(isMisuseError(null)).toBe(false);
  });
});

test('defineTool.for<Services>() is the same function', () => {
  expect(
    defineTool.for<{ db: string }>()({
      ...good,
      name: 'served',
      handler: (_, { services }) => services.db,
    }).name,
  ).toBe('served');
});
