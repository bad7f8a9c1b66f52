/**
 * The definitions that an application may register: each is accepted, cleaned or refused by name,
 * and none affects another.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FailedTool,
  type ReadOptions,
  readDefinitions,
} from '../../../../src/surfaces/relay/tools/read-definitions.ts';
import { cpuMs } from '../../../runner/cpu-time.ts';
import { attacks } from '../../../values/schema/attacks.ts';

const object = { type: 'object', properties: { a: { type: 'string' } } };
const definition = (more: object = {}): Record<string, unknown> => ({
  name: 'one',
  description: 'Does one thing.',
  parameters: object,
  ...more,
});
const free: ReadOptions = { taken: () => undefined };

const readOne = async (raw: unknown, options = free): Promise<object> => {
  const { definitions, failed } = await readDefinitions([raw], options);
  expect(definitions.length + failed.length).toBe(1);
  return (definitions[0] ?? failed[0]) as object;
};
const refusal = async (raw: unknown): Promise<string> =>
  ((await readOne(raw)) as FailedTool).error ?? 'taken';

describe('a definition', () => {
  test('is accepted unchanged', async () => {
    const full = definition({
      outputSchema: { type: 'number' },
      title: 'One',
      annotations: { destructive: true, openWorld: true },
    });
    expect(await readDefinitions([full], free)).toEqual({
      definitions: [full],
      failed: [],
      warnings: [],
    });
  });

  test('is copied, so that a later change has no effect', async () => {
    const raw = definition({ parameters: structuredClone(object) });
    const { definitions } = await readDefinitions([raw], free);
    (raw.parameters as { properties: object }).properties = {};
    expect(definitions[0]?.parameters).toEqual(object);
  });

  test.each<[string, object]>([
    ['inputSchema', { inputSchema: object }],
    ['input_schema', { input_schema: object }],
    ['parameters before the older names', { parameters: object, inputSchema: { type: 'string' } }],
    ['parameters that are null beside an older name', { parameters: null, inputSchema: object }],
  ])('is read by older names: %s', async (_, fields) => {
    expect(await readOne({ name: 'one', description: 'Does one thing.', ...fields })).toEqual(
      definition(),
    );
  });

  test('may use the older name of the output schema', async () => {
    expect(await readOne(definition({ output_schema: { type: 'string' } }))).toEqual(
      definition({ outputSchema: { type: 'string' } }),
    );
  });

  test('loses unknown fields', async () => {
    expect(
      await readOne(
        definition({
          handler: 'x',
          policy: {},
          tags: ['trusted'],
          timeoutMs: 1,
          patternSize: -1e9,
        }),
      ),
    ).toEqual(definition());
  });

  test('loses invisible characters', async () => {
    expect(
      await readOne(
        definition({
          description: 'Reads\u202e a \u{e0041}file.\u0000\n\nWell.',
          title: ' O\u200bne\nline ',
          parameters: {
            type: 'object',
            description: 'a\u2066b',
            properties: { a: { type: 'string', title: 'x\u001b[2J' } },
          },
        }),
      ),
    ).toEqual(
      definition({
        description: 'Reads a file.\n\nWell.',
        title: 'One line',
        parameters: {
          type: 'object',
          description: 'ab',
          properties: { a: { type: 'string', title: 'x[2J' } },
        },
      }),
    );
  });

  test.each<[string, unknown, object | undefined]>([
    [
      'that tighten stay',
      { destructive: true, openWorld: true },
      { destructive: true, openWorld: true },
    ],
    [
      'have the names of MCP too',
      { destructiveHint: true, openWorldHint: true, idempotentHint: true },
      { destructive: true, openWorld: true, idempotent: true },
    ],
    ['idempotent is kept for delivery', { idempotent: true }, { idempotent: true }],
    [
      'that loosen go',
      { readOnly: true, readOnlyHint: true, destructive: false, openWorldHint: false },
      undefined,
    ],
    ['that are no booleans go', { destructive: 'yes', openWorld: 1, idempotent: {} }, undefined],
    ['that are no object go', ['destructive'], undefined],
    ['that nobody knows go', { trusted: true, __proto__: { destructive: true } }, undefined],
  ])('annotations %s', async (_, annotations, kept) => {
    expect(await readOne(definition({ annotations }))).toEqual(
      definition(kept === undefined ? {} : { annotations: kept }),
    );
  });

  test('takes its title from the annotations of MCP, and cuts a long one', async () => {
    expect(await readOne(definition({ annotations: { title: 'One' } }))).toEqual(
      definition({ title: 'One' }),
    );
    expect(
      ((await readOne(definition({ title: 'x'.repeat(1_000) }))) as { title: string }).title,
    ).toHaveLength(254);
  });
});

describe('a definition is refused, with what was expected,', () => {
  test.each<[string, unknown, RegExp]>([
    ['that is not an object', 'one', /Expected an object \{ name, description, parameters \}/],
    ['that is an array', [], /Expected an object/],
    ['that is null', null, /Expected an object/],
    ['without a name', { description: 'x', parameters: object }, /`name` to be a string/],
    ['with a blank name', definition({ name: '  ' }), /non-blank/],
    [
      'with a name of 1 025 characters',
      definition({ name: 'x'.repeat(1_025) }),
      /at most 1024 characters/,
    ],
    ['with a bidirectional name', definition({ name: 'a\u202eb' }), /bidirectional/],
    ['with an invisible name', definition({ name: 'a\u200bb' }), /invisible/],
    ['with a line break in its name', definition({ name: 'a\nb' }), /line break/],
    ['with a reserved name', definition({ name: '__proto__' }), /reserved/],
    [
      'without a description',
      definition({ description: undefined }),
      /`description` to be a non-blank string/,
    ],
    ['with a blank description', definition({ description: ' \u200b\n' }), /none that can be seen/],
    [
      'with a description that is no text',
      definition({ description: { text: 'x' } }),
      /`description` to be a non-blank string/,
    ],
    [
      'with a description over 8 KB',
      definition({ description: 'é'.repeat(4_097) }),
      /at most 8192 bytes, got 8194/,
    ],
    [
      'without parameters',
      definition({ parameters: undefined }),
      /`parameters` to be a JSON Schema object/,
    ],
    [
      'with parameters that are a boolean',
      definition({ parameters: true }),
      /`parameters` to be a JSON Schema object/,
    ],
    [
      'with parameters that are no object’s',
      definition({ parameters: { type: 'string' } }),
      /type "object"/,
    ],
    [
      'with parameters that are too large',
      definition({ parameters: { type: 'object', description: 'x'.repeat(70_000) } }),
      /`parameters`.*65536 bytes/,
    ],
    [
      'with an output schema that is none',
      definition({ outputSchema: 'text' }),
      /`outputSchema` to be a JSON Schema object/,
    ],
    ['that holds what JSON cannot', definition({ parameters: { default: 1n } }), /bigint/],
  ])('%s', async (_, raw, says) => {
    expect(await refusal(raw)).toMatch(says);
    expect(await readOne(raw)).toMatchObject({ recoverable: true });
  });

  test('and the others are accepted', async () => {
    const raw = [
      definition({ name: 'a' }),
      7,
      definition({ name: 'b', parameters: { type: 'string' } }),
      definition({ name: 'c' }),
    ];
    const { definitions, failed } = await readDefinitions(raw, free);
    expect(definitions.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(failed.map(({ toolName }) => toolName)).toEqual(['(no name)', 'b']);
  });

  test('with its name in one visible line', async () => {
    const { failed } = await readDefinitions(
      [definition({ name: `a\u202e\n${'x'.repeat(5_000)}` })],
      free,
    );
    expect(failed[0]?.toolName).toMatch(/^a x+…$/);
    expect(failed[0]?.toolName.length).toBeLessThanOrEqual(200);
    expect(failed[0]?.error).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });
});

test('parts of schemas that only the application can check are noted, with its tool', async () => {
  const { definitions, failed, warnings } = await readDefinitions(
    [
      definition({ parameters: { type: 'object', properties: { a: { pattern: '(.)\\1' } } } }),
      definition({ name: 'two', outputSchema: { description: 'x'.repeat(70_000) } }),
      definition({ name: 'ONE', parameters: { type: 'object', required: true } }),
    ],
    free,
  );
  expect(definitions.map(({ name, outputSchema }) => [name, outputSchema])).toEqual([
    ['one', undefined],
    ['two', undefined],
  ]);
  expect(failed).toHaveLength(1);
  expect(warnings).toEqual([
    {
      toolName: 'one',
      path: '/parameters/properties/a/pattern',
      message: expect.stringContaining('linear time'),
    },
    { toolName: 'two', path: '/outputSchema', message: expect.stringContaining('is left out') },
  ]);
});

describe('a name', () => {
  test('of a tool of the host cannot be used, whatever else is corrected', async () => {
    const taken = (name: string): string | undefined =>
      name.toLowerCase() === 'bash' ? 'bash' : undefined;
    expect(await readOne(definition({ name: 'bash' }), { taken })).toEqual({
      toolName: 'bash',
      error: 'Its name is that of a tool of the host. Choose another name.',
      recoverable: false,
    });
    expect(await readOne(definition({ name: 'Bash' }), { taken })).toMatchObject({
      error: expect.stringContaining('could be taken for `bash`'),
      recoverable: false,
    });
  });

  test('that is given twice belongs to the first definition', async () => {
    const { definitions, failed } = await readDefinitions(
      [definition(), definition({ description: 'Does another.' })],
      free,
    );
    expect(definitions).toEqual([definition()]);
    expect(failed).toEqual([
      { toolName: 'one', error: expect.stringContaining('was given twice'), recoverable: true },
    ]);
  });

  test.each(['One', '0ne', 'оne', 'ｏne'])(
    'that looks like another is refused: %s',
    async (name) => {
      const { failed } = await readDefinitions(
        [definition(), definition({ name: name.normalize('NFC') })],
        free,
      );
      expect(failed).toEqual([
        {
          toolName: name,
          error: expect.stringContaining('could be taken for `one`'),
          recoverable: true,
        },
      ]);
    },
  );

  test('of a failed definition is free', async () => {
    expect(
      (await readDefinitions([definition({ name: 'One', parameters: 1 }), definition()], free))
        .definitions,
    ).toEqual([definition()]);
  });

  test('of a registered tool replaces its definition; a name that looks like it is refused', async () => {
    const standing = (await readDefinitions([definition()], free)).definitions;
    expect(
      await readOne(definition({ description: 'Does more.' }), { ...free, kept: standing }),
    ).toMatchObject({ description: 'Does more.' });
    expect(await readOne(definition({ name: 'ONE' }), { ...free, kept: standing })).toMatchObject({
      recoverable: true,
    });
  });

  test.each(['constructor', 'toString', 'hasOwnProperty', 'math.gcd', 'Größe', 'a b'])(
    'that is ordinary is accepted: %s',
    async (name) => {
      expect(await readOne(definition({ name }))).toMatchObject({ name });
    },
  );
});

describe('a hostile definition', () => {
  // Milliseconds of processor time. The worst case takes some tens, and a hang much more than this.
  const limitMs = 5_000;
  const hostile = attacks.filter(({ outside }) => outside === 'refused');

  test.each(attacks.map(({ name, schema, outside }) => [name, schema, outside] as const))(
    'is handled fast, and does not affect the others: %s',
    async (_, schema) => {
      const raw = [
        definition({ parameters: schema() }),
        definition({ name: 'two' }),
        definition({ name: 'three', outputSchema: schema() }),
      ];
      const start = cpuMs();
      const { definitions, failed } = await readDefinitions(raw, free);
      expect(cpuMs() - start).toBeLessThan(limitMs);
      expect(definitions.map(({ name }) => name)).toContain('two');
      expect(definitions.length + failed.length).toBe(3);
      // The failure has the name of the definition, whatever is wrong with it.
      for (const { toolName } of failed) expect(['one', 'three']).toContain(toolName);
    },
  );

  test('is refused if the schema gate refuses it', async () => {
    for (const { name, schema, data } of hostile) {
      // Some of the attacks are only data, so their definitions are valid.
      if (data !== undefined && /as data|data |^NaN|^a BigInt/.test(name)) continue;
      expect(await refusal(definition({ parameters: schema() })), name).not.toBe('taken');
    }
  });

  test('with many patterns reaches the limit of its session, and later patterns are not checked', async () => {
    const evil = (index: number): object => ({
      type: 'object',
      allOf: Array.from({ length: 12 }, (_, at) => ({ pattern: `(?i)[!-\uffff]${index}x${at}` })),
    });
    const raw = Array.from({ length: 1_000 }, (_, index) =>
      definition({ name: `t${index}`, parameters: index % 2 === 0 ? evil(index) : object }),
    );
    const start = cpuMs();
    const { definitions, failed, warnings } = await readDefinitions(raw, free);
    expect(cpuMs() - start).toBeLessThan(20_000);
    expect([definitions.length, failed]).toEqual([1_000, []]);
    expect(new Set(warnings.map(({ toolName }) => toolName)).size).toBeGreaterThan(480);
    expect(warnings.at(-1)?.message).toMatch(/all schemas that came together are too complex/);
    // The registered tools have used their share of the limit.
    const later = await readDefinitions(
      [definition({ parameters: evil(1) }), definition({ name: 'plain' })],
      { ...free, kept: definitions },
    );
    expect(later.failed).toEqual([]);
    expect(new Set(later.warnings.map(({ toolName }) => toolName))).toEqual(new Set(['one']));
  });
});

describe('many definitions', () => {
  test('let other work run before each of them', async () => {
    let pauses = 0;
    const pause = async (): Promise<void> => void pauses++;
    const raw = [definition(), 1, definition({ name: 'two' }), definition()];
    expect((await readDefinitions(raw, { ...free, pause })).definitions).toHaveLength(2);
    expect(pauses).toBe(4);
  });
});

describe('a thousand ordinary definitions', () => {
  test('are read at once', async () => {
    const parameters = {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where.' },
        depth: { type: 'integer', minimum: 0 },
        kind: { enum: ['a', 'b', 'c'] },
      },
      required: ['path'],
      additionalProperties: false,
    };
    const raw = Array.from({ length: 1_000 }, (_, index) =>
      definition({ name: `tool_${index}`, parameters }),
    );
    await readDefinitions(raw, free);
    const start = cpuMs();
    expect((await readDefinitions(raw, free)).definitions).toHaveLength(1_000);
    expect(cpuMs() - start).toBeLessThan(10_000);
  });
});

describe('any value', () => {
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        name: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        description: fc.jsonValue(),
        parameters: fc.jsonValue(),
        annotations: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
    fc.string({ minLength: 1 }).map((name) => definition({ name })),
  );
  test('is a definition or a failure, and reading an accepted definition again changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (raw) => {
        const { definitions, failed } = await readDefinitions(raw, free);
        expect(definitions.length + failed.length).toBe(raw.length);
        for (const { toolName, error } of failed)
          expect(`${toolName}${error}`).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        expect(await readDefinitions(definitions, free)).toEqual({
          definitions,
          failed: [],
          warnings: [],
        });
      }),
    );
  });
});
