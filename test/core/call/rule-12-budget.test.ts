import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Content, content, HostToolRegistry, serializeOutput } from '../../../src/index.ts';
import { wireText } from '../../../src/values/json/index.ts';
import { outcome, tool, world } from './world.ts';

/** What is reachable: counted after a full collection, in this thread alone. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('rule 12: the budget of the model-visible text', () => {
  test('without one nothing is cut', async () => {
    const w = world();
    const result = await w.run(() => 'x'.repeat(300_000));
    expect(result.output).toHaveLength(300_000);
    expect(result.metadata.truncated).toBeUndefined();
  });

  test('the smallest of tool, profile and limits holds', async () => {
    const registry = new HostToolRegistry();
    registry.register(tool(() => 'x'.repeat(1_000), { name: 'a', maxOutputChars: 300 }));
    registry.defineProfile({ id: 'p', tools: [{ name: 'a', maxOutputChars: 200 }] });
    registry.defineProfile({
      id: 'q',
      tools: [{ name: 'a', maxOutputChars: 400 }],
      limits: { maxOutputChars: 250 },
    });
    const length = async (options: object): Promise<unknown> =>
      ((await registry.createSession({ sessionId: 's', ...options }).call('a')).output as string)
        .length;
    expect(await length({})).toBe(300);
    expect(await length({ profile: 'p' })).toBe(200);
    expect(await length({ profile: 'q' })).toBe(250);
    expect(await length({ profile: 'p', limits: { maxOutputChars: 100 } })).toBe(100);
  });

  test('cut text is marked within the budget; `metadata.truncated` has the length', async () => {
    const w = world();
    const result = await w.run(() => 'x'.repeat(1_000), { maxOutputChars: 100 });
    expect(result.output).toHaveLength(100);
    expect(result.output).toMatch(/^x+\n\[output cut: 1000 characters, limit 100\]$/);
    expect(result.metadata).toMatchObject({
      status: 'succeeded',
      truncated: { originalChars: 1_000, exact: true, strategy: 'head' },
    });
  });

  test('`head_tail` keeps both ends', async () => {
    const w = world();
    const result = await w.run(() => `${'a'.repeat(500)}${'z'.repeat(500)}`, {
      maxOutputChars: 100,
      outputStrategy: 'head_tail',
    });
    expect(result.output).toMatch(/^a+\n\[output cut: 1000 characters, limit 100\]z+$/);
    expect(result.metadata.truncated?.strategy).toBe('head_tail');
  });

  test('data that is over becomes its cut text; only text is counted exactly', async () => {
    const w = world();
    const result = await w.run(() => Array.from({ length: 1_000 }, (_, n) => n), {
      maxOutputChars: 100,
    });
    expect(result.output).toMatch(
      /^\[0,1,2,.*\[output cut: more than 100 characters, limit 100\]$/s,
    );
    expect(result.metadata.truncated).toMatchObject({ exact: false });
  });

  test.each([
    ['numbers', [12, 34, 56, 78, 90, 12, 34, 56]],
    ['booleans and nulls', [true, null, true, null]],
    ['empty containers', [[], {}, [], {}]],
    ['members', { a: 1, b: 2, c: 3 }],
    ['text that JSON escapes', ['"\n\t\\']],
    ['text of which each character takes six', ['\u0001'.repeat(100)]],
    ['half characters, which count as their replacements', ['\ud800'.repeat(50)]],
    ['numbers as long as they get', Array.from({ length: 20 }, () => -1.2345678901234567e-100)],
    [
      'members with such names and numbers',
      { ['\u0001'.repeat(20)]: -1.2345678901234567e-100, '': false },
    ],
  ])(
    'data that fits to the character stays data, one character less cuts it: %s',
    async (_, value) => {
      const { length } = wireText(value);
      const w = world();
      expect(await w.run(() => value, { maxOutputChars: length })).toMatchObject({
        success: true,
        output: value,
      });
      const cut = await w.run(() => value, { maxOutputChars: length - 1 });
      expect(cut.output).toEqual(expect.any(String));
      expect(cut.metadata.truncated?.originalChars).toBeGreaterThan(length - 1);
    },
  );

  test('toJSON is honoured where data is cut, too', async () => {
    const w = world();
    class User {
      password = 'hunter2';
      toJSON(): object {
        return { name: 'ann' };
      }
    }
    const result = await w.run(() => Array.from({ length: 50 }, () => new User()), {
      maxOutputChars: 120,
    });
    expect(result.output).toContain('{"name":"ann"}');
    expect(result.output).not.toContain('hunter2');
  });

  test('an output with a schema is never cut; over budget it is `invalid_output`', async () => {
    const w = world();
    const outputSchema = z.array(z.string());
    expect(
      (await w.run(() => ['x'.repeat(200)], { maxOutputChars: 100, outputSchema })).error,
    ).toMatchObject({
      code: 'invalid_output',
      reason: 'output_too_large',
    });
    expect((await w.run(() => ['x'], { maxOutputChars: 100, outputSchema })).output).toEqual(['x']);
    expect(
      outcome(
        await w.run(() => 'x'.repeat(200), { maxOutputChars: 100, outputSchema: z.string() }),
      ),
    ).toBe('invalid_output');
  });

  test('a result that a hook made is cut as well', async () => {
    const w = world();
    w.session.use({
      after: (_, result) => ({ ...result, success: true, output: 'y'.repeat(1_000) }) as never,
    });
    expect((await w.run(() => 'x', { maxOutputChars: 100 })).output).toHaveLength(100);
  });

  test('a secret that the cut would split is still hidden in events', async () => {
    const w = world();
    const outputSchema = undefined;
    const secret = 's3cr3t-s3cr3t-s3cr3t';
    await w.run(
      ({ key }: { key: string }) => `${'x'.repeat(45)}${key}${'x'.repeat(500)}`,
      {
        maxOutputChars: 100,
        outputSchema,
        parameters: z.object({ key: z.string().meta({ secret: true }) }),
      },
      { key: secret },
    );
    expect(JSON.stringify(w.events)).not.toContain(secret);
  });

  const partOf: fc.Arbitrary<Content> = fc.oneof(
    fc.string({ maxLength: 300, unit: 'binary' }).map((text) => content.text(text)),
    fc.string({ maxLength: 300 }).map((text) => content.resource({ uri: 'file:///a', text })),
    fc.string({ maxLength: 40 }).map((name) => content.link({ uri: 'https://example.org/', name })),
    fc.constant(content.image('AAAA', 'image/png')),
    fc.constant(content.resource({ uri: 'file:///b', blob: 'AAAA' })),
  );
  const anything = fc.oneof(
    fc.string({ maxLength: 500, unit: 'binary' }),
    fc.jsonValue(),
    fc.array(partOf, { minLength: 1, maxLength: 8 }),
  );

  test('property: no surface exceeds the budget, and smaller outputs are unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        anything,
        fc.integer({ min: 1, max: 400 }),
        fc.constantFrom('head', 'head_tail'),
        async (value, maxOutputChars, outputStrategy) => {
          const whole = await world().run(() => value);
          const cut = await world().run(() => value, { maxOutputChars, outputStrategy });
          expect(serializeOutput(cut).length).toBeLessThanOrEqual(
            Math.max(
              maxOutputChars,
              serializeOutput(whole).length <= maxOutputChars ? maxOutputChars : 0,
            ),
          );
          if (cut.metadata.truncated === undefined) expect(cut.output).toEqual(whole.output);
          else expect(cut.metadata.truncated.originalChars).toBeGreaterThan(maxOutputChars);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('property: a cut never splits a code point', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom('head', 'head_tail'),
        async (maxOutputChars, outputStrategy) => {
          const result = await world().run(() => '😀'.repeat(300), {
            maxOutputChars,
            outputStrategy,
          });
          expect(result.output).not.toMatch(/\p{Cs}/u);
        },
      ),
    );
  });

  test('media stay whole, texts share the budget in order, and the cut is marked', async () => {
    const w = world();
    const image = content.image('A'.repeat(1_000), 'image/png');
    const result = await w.run(
      () => [
        content.text('a'.repeat(60)),
        image,
        content.resource({ uri: 'file:///r', text: 'r'.repeat(20_000) }),
        content.text('never'),
      ],
      { maxOutputChars: 200 },
    );
    const text = serializeOutput(result);
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text).toMatch(
      /^a{60}\n\[image: image\/png\]\nr+\n\[output cut: \d+ characters, limit 200\]$/,
    );
    expect((result.output as { data?: string }[])[1]?.data).toHaveLength(1_000);
  });

  test('what is kept of a large text holds none of its memory', async () => {
    const w = world();
    w.add(
      tool(() => Buffer.alloc(20_000_000, 'x').toString('latin1'), {
        name: 'a',
        maxOutputChars: 200,
      }),
      tool(
        () => {
          throw new Error(Buffer.alloc(20_000_000, 'x').toString('latin1'));
        },
        { name: 'b' },
      ),
    );
    const kept: unknown[] = [];
    const before = heldBytes();
    for (let round = 0; round < 30; round++) {
      // What was thrown is held by `cause`, for the host; whoever keeps the error without it keeps
      // the short text.
      const { message } = (await w.session.call('b')).error ?? {};
      kept.push(await w.session.call('a'), message);
    }
    // 60 results of 20 MB each would be 1.2 GB.
    expect(heldBytes() - before).toBeLessThan(400_000_000);
    expect(kept).toHaveLength(60);
  });
});

describe('rule 12: the text of an error', () => {
  test('keeps to the budget as an output does', async () => {
    const w = world();
    const { error } = await w.run(
      () => {
        throw new Error('x'.repeat(10_000));
      },
      { maxOutputChars: 200 },
    );
    expect(error?.message).toHaveLength(200);
  });
});
