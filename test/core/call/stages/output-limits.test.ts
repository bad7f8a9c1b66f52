import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Content, content } from '../../../../src/index.ts';
import { world } from '../world.ts';

const shaped = async (
  value: unknown,
  maxOutputChars: number,
  more: Record<string, unknown> = {},
) => {
  const { output, metadata, error } = await world().run(() => value, { maxOutputChars, ...more });
  return { output, truncated: metadata.truncated, error };
};

/** What a cut says of itself. */
const mark = (length: number, limit: number): string =>
  `\n[output cut: ${length} characters, limit ${limit}]`;

describe('a text that is over the budget', () => {
  test('ends with the mark of the cut, which is part of the budget', async () => {
    expect((await shaped('x'.repeat(1_000), 100)).output).toBe('x'.repeat(59) + mark(1_000, 100));
  });

  test(
    'keeps one character more of its beginning than of its end where both are kept and the room ' +
      'is odd',
    async () => {
      const text = 'a'.repeat(500) + 'z'.repeat(500);
      expect((await shaped(text, 102, { outputStrategy: 'head_tail' })).output).toBe(
        'a'.repeat(31) + mark(1_000, 102) + 'z'.repeat(30),
      );
      expect((await shaped(text, 101, { outputStrategy: 'head_tail' })).output).toBe(
        'a'.repeat(30) + mark(1_000, 101) + 'z'.repeat(30),
      );
    },
  );

  test('is cut without a mark where the mark would take all of the budget', async () => {
    for (const outputStrategy of ['head', 'head_tail']) {
      expect((await shaped('x'.repeat(100), 39, { outputStrategy })).output).toBe('x'.repeat(39));
      expect((await shaped('x'.repeat(100), 40, { outputStrategy })).output).toBe(
        `x${mark(100, 40)}`,
      );
    }
  });

  test.each(['\ud83d\ude00', '\ud800\udc00', '\udbff\udfff'])(
    'loses a whole code point where the cut would split it: %j',
    async (point) => {
      const text = point.repeat(500);
      const both = { outputStrategy: 'head_tail' };
      expect((await shaped(text, 51)).output).toBe(point.repeat(5) + mark(1_000, 51));
      expect((await shaped(text, 52)).output).toBe(point.repeat(6) + mark(1_000, 52));
      expect((await shaped(text, 50, both)).output).toBe(
        point.repeat(2) + mark(1_000, 50) + point.repeat(2),
      );
      expect((await shaped(text, 49, both)).output).toBe(
        point.repeat(2) + mark(1_000, 49) + point.repeat(2),
      );
    },
  );

  test('fits to the character, and is then whole', async () => {
    expect(await shaped('x'.repeat(100), 100)).toEqual({
      output: 'x'.repeat(100),
      truncated: undefined,
      error: undefined,
    });
    expect((await shaped('x'.repeat(101), 100)).truncated).toEqual({
      originalChars: 101,
      exact: true,
      strategy: 'head',
    });
  });
});

describe('data that is over the budget', () => {
  /** The whole of it is not written, so that all that can be said is how much was. */
  const started = (value: unknown, limit: number, written: number): string => {
    const end = `\n[output cut: more than ${written - 1} characters, limit ${limit}]`;
    return JSON.stringify(value).slice(0, limit - end.length) + end;
  };

  test.each<[string, unknown]>([
    ['texts', Array.from({ length: 50 }, (_, index) => `text "${index}"`)],
    [
      'members',
      Array.from({ length: 30 }, (_, index) => ({
        name: index,
        list: [true, null, 1.5],
        none: {},
        empty: [],
      })),
    ],
    ['one text that is longer than the budget', { text: 'x'.repeat(5_000) }],
    ['one name that is longer than the budget', { ['x'.repeat(5_000)]: 1 }],
    [
      'what JSON has no word for',
      Array.from({ length: 100 }, () => ({ here: 1, gone: undefined, list: [undefined] })),
    ],
  ])('is the beginning of its JSON text: %s', async (_, value) => {
    // A secret has to be found before the cut, so that the copy does not stop early.
    const secretive = {
      parameters: z.object({ key: z.string().meta({ secret: true }).optional() }),
    };
    for (const more of [{}, secretive]) {
      const { output, truncated } = await shaped(value, 200, more);
      expect(truncated).toEqual({
        originalChars: expect.any(Number),
        exact: false,
        strategy: 'head',
      });
      const { originalChars = 0 } = truncated ?? {};
      expect(output).toBe(started(value, 200, originalChars));
      expect(originalChars).toBeGreaterThan(200);
      expect(originalChars).toBeLessThanOrEqual(JSON.stringify(value).length);
    }
  });

  /** What is written of a value, one after another: brackets, commas, names and plain values. */
  const piecesOf = (value: unknown): string[] => {
    if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
    if (Array.isArray(value))
      return [
        '[',
        ...value.flatMap((item, index) => [...(index > 0 ? [','] : []), ...piecesOf(item)]),
        ']',
      ];
    return [
      '{',
      ...Object.entries(value).flatMap(([name, member], index) => [
        `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`,
        ...piecesOf(member),
      ]),
      '}',
    ];
  };

  test('is written only up to the first piece that exceeds it', async () => {
    const value = [[1, [true, []]], { a: { b: null, c: {} }, d: ['text', [2]] }, [[{}], 'end']];
    const pieces = piecesOf(value);
    const whole = JSON.stringify(value);
    expect(pieces.join('')).toBe(whole);
    for (let limit = 1; limit < whole.length; limit++) {
      let written = 0;
      for (const piece of pieces) if (written <= limit) written += piece.length;
      expect((await shaped(value, limit)).truncated, `${limit}`).toEqual({
        originalChars: written,
        exact: false,
        strategy: 'head',
      });
    }
  });

  test('is data where it fits but for members that JSON leaves out', async () => {
    const value = Object.fromEntries([
      ...Array.from({ length: 100 }, (_, index) => [`gone${index}`, undefined]),
      ['here', 1],
    ]);
    expect(await shaped(value, 10)).toStrictEqual({
      output: { here: 1 },
      truncated: undefined,
      error: undefined,
    });
  });

  test('is data where it fits, though it is too long to be written at once', async () => {
    const value = ['x'.repeat(600_000), 'y'.repeat(600_000)];
    expect(await shaped(value, 1_200_007)).toEqual({
      output: value,
      truncated: undefined,
      error: undefined,
    });
    expect((await shaped(value, 1_200_006)).truncated).toMatchObject({ exact: false });
  });

  test('names the tool to ask for less, if a schema mentions it', async () => {
    const { error } = await shaped(['x'.repeat(200)], 100, {
      name: 'rows',
      outputSchema: z.array(z.string()),
    });
    expect(error).toMatchObject({
      code: 'invalid_output',
      reason: 'output_too_large',
      message:
        'The output of `rows` is over its budget of 100 characters, and data with an output ' +
        'schema is never cut. Ask for less.',
    });
  });
});

describe('content that is over the budget', () => {
  const [a, b, z9] = [
    content.text('a'.repeat(10)),
    content.text('b'.repeat(100)),
    content.text('z'.repeat(9)),
  ];
  const image = content.image('AAAA', 'image/png');
  const wide = content.image('AAAA', `image/${'x'.repeat(60)}`);
  const text = (value: string) => ({ type: 'text', text: value });

  test.each<[string, readonly Content[], number, object[], number]>([
    [
      'the first text that does not fit is cut',
      [a, b],
      60,
      [text('a'.repeat(10)), text('b'.repeat(10) + mark(111, 60))],
      111,
    ],
    [
      'what follows the cut is left out',
      [a, b, z9],
      60,
      [text('a'.repeat(10)), text('b'.repeat(10) + mark(121, 60))],
      121,
    ],
    [
      'media after the cut keep their place',
      [a, image, b],
      60,
      [text(`aa${mark(130, 60)}`), image],
      130,
    ],
    [
      'media that do not fit are left out, and a mark of its own says so',
      [wide, a],
      50,
      [text('a'.repeat(10)), text(mark(86, 50).slice(1))],
      86,
    ],
    [
      'without room for a mark there is none',
      [a, b],
      39,
      [text('a'.repeat(10)), text('b'.repeat(28))],
      111,
    ],
    ['a mark comes before text', [a, b], 40, [text(`a${mark(111, 40)}`)], 111],
    ['media that fill all of it leave no room for text', [image, a], 18, [image], 29],
    ['nor does one character make a text', [image, a], 19, [image], 29],
    ['two do', [image, a], 20, [image, text('a')], 29],
    [
      'a resource is cut in its text',
      [content.resource({ uri: 'file:///r', text: 'r'.repeat(100) })],
      60,
      [
        {
          type: 'resource',
          resource: { uri: 'file:///r', text: `${'r'.repeat(21)}${mark(100, 60)}` },
        },
      ],
      100,
    ],
  ])('%s', async (_, parts, limit, kept, originalChars) => {
    expect(await shaped(parts, limit)).toEqual({
      output: kept,
      truncated: { originalChars, exact: true, strategy: 'head' },
      error: undefined,
    });
  });

  test('keeps both ends of the text that is cut, where the tool wants that', async () => {
    const { output } = await shaped([content.text('a'.repeat(50) + 'z'.repeat(50))], 60, {
      outputStrategy: 'head_tail',
    });
    expect(output).toEqual([text('a'.repeat(11) + mark(100, 60) + 'z'.repeat(10))]);
  });

  test('is whole if it fits exactly, including the line breaks between parts', async () => {
    expect(await shaped([a, image, z9], 39)).toEqual({
      output: [a, image, z9],
      truncated: undefined,
      error: undefined,
    });
    expect((await shaped([a, image, z9], 38)).truncated).toEqual({
      originalChars: 39,
      exact: true,
      strategy: 'head',
    });
  });
});

describe('an output schema', () => {
  test('is for data: content parts are refused, and the error names the tool', async () => {
    const { error } = await shaped([content.text('x')], 100, {
      name: 'rows',
      outputSchema: z.array(z.unknown()),
    });
    expect(error).toMatchObject({
      code: 'invalid_output',
      reason: 'output_schema',
      message: '`rows` has an output schema and returned content parts instead of data.',
    });
  });

  test.each([
    ['at once', z.object({ n: z.number() })],
    ['later', z.object({ n: z.number() }).refine(async () => true)],
  ])(
    'that refuses %s says where and what, and that the tool may have run',
    async (_, outputSchema) => {
      const { error } = await shaped({ n: 'x' }, 1_000, { name: 'rows', outputSchema });
      expect(error).toMatchObject({
        code: 'invalid_output',
        reason: 'output_schema',
        message: expect.stringMatching(
          /^The output of `rows` does not match its output schema\. The tool may have run\.\n.*\bn\b/,
        ),
        details: [{ path: 'n', message: expect.any(String) }],
      });
    },
  );

  test('answers what it parsed, at once or later', async () => {
    for (const outputSchema of [
      z.object({ n: z.coerce.number() }),
      z.object({ n: z.coerce.number() }).refine(async () => true),
    ])
      expect((await shaped({ n: '5' }, 1_000, { outputSchema })).output).toEqual({ n: 5 });
  });
});
