import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fail, type ToolContext } from '../../../src/index.ts';
import { tool, world } from '../../core/call/world.ts';

const secret = z.string().meta({ secret: true });
const canary = 'CANARY-CANARY';

/** What everybody but the handler is told of one call. */
const toldOf = async (
  more: Record<string, unknown>,
  handler: (input: never, context: never) => unknown,
  input: unknown = {},
  redact?: string[],
) => {
  const w = world({ repair: 'safe' }, redact === undefined ? {} : { redact });
  const result = await w.run(handler, more, input);
  return { events: JSON.stringify(w.events), error: JSON.stringify(result.error ?? null), result };
};

describe('a secret is neither in an event nor in an error', () => {
  test.each<[string, Record<string, unknown>, unknown]>([
    ['that came with the input', { parameters: z.object({ key: secret }) }, { key: canary }],
    [
      'that a default filled in',
      {
        parameters: {
          type: 'object',
          properties: { key: { type: 'string', secret: true, default: canary } },
        },
      },
      {},
    ],
    [
      'that a vendor’s default filled in',
      { parameters: z.object({ key: secret.default(canary) }) },
      {},
    ],
    [
      'that a vendor’s schema made',
      { parameters: z.object({ key: secret.transform((text) => `${text}-CANARY`) }) },
      { key: 'CANARY' },
    ],
    [
      'that a repair uncovered',
      { parameters: z.object({ inner: z.object({ key: secret }) }) },
      { inner: JSON.stringify({ key: canary }) },
    ],
  ])('%s', async (_, more, input) => {
    for (const end of [(text: string) => fail(text), (text: string) => text]) {
      const { events, error } = await toldOf(
        more,
        (
          { key, inner }: { key?: string; inner?: { key: string } },
          { emit, progress }: ToolContext,
        ) => {
          const text = `It is ${key ?? inner?.key}.`;
          emit('said', text);
          progress(1, 2, text);
          return end(text);
        },
        input,
      );
      expect(events).toContain('It is ');
      expect(events + error).not.toContain(canary);
    }
  });

  test('that is a knob of the profile', async () => {
    const w = world();
    const says = (_: never, { knobs, emit }: ToolContext) => {
      const text = `It is ${(knobs as { token: string }).token}.`;
      emit('said', text);
      return fail(text);
    };
    w.add(tool(says, { name: 'a', policy: { knobs: z.object({ token: secret }) } }));
    w.registry.defineProfile({ id: 'p', tools: [{ name: 'a', knobs: { token: canary } }] });
    const { error } = await w.registry
      .createSession({ sessionId: 'other', profile: 'p' })
      .call('a');
    expect(JSON.stringify(w.events)).toContain('It is ');
    expect(JSON.stringify([w.events, error])).not.toContain(canary);
  });

  test('that a redact path marks in the output, even if the output is nothing else', async () => {
    const { events, result } = await toldOf(
      {},
      () => ({ key: canary, text: `It is ${canary}.` }),
      {},
      ['key'],
    );
    expect(result.output).toEqual({ key: canary, text: `It is ${canary}.` });
    expect(events).toContain('It is ');
    expect(events).not.toContain(canary);
    expect((await toldOf({}, () => undefined, {}, ['key'])).result.output).toBe(null);
  });

  test('that a child was given by its parent, or gave back', async () => {
    const w = world();
    w.add(
      tool(({ key }: { key: string }) => ({ made: `${key}-made` }), {
        name: 'inner',
        parameters: z.object({ key: secret }),
        outputSchema: z.object({ made: secret }),
      }),
      tool(
        async (_: never, { tools, emit }: ToolContext) => {
          const { output } = await (
            tools.call as (name: string, input: object) => Promise<{ output?: unknown }>
          )('inner', { key: canary });
          emit('said', `It is ${canary}, it is ${(output as { made: string }).made}.`);
          return fail(`It is ${canary}.`);
        },
        { name: 'outer', uses: ['inner'] },
      ),
    );
    const { error } = await w.session.call('outer');
    expect(JSON.stringify(w.events)).toContain('It is ');
    expect(JSON.stringify([w.events, error])).not.toContain(canary);
  });
});

test('a text that is not a secret of this call is unchanged', async () => {
  const { events } = await toldOf(
    { parameters: z.object({ key: secret, n: z.number() }) },
    (_: never, { emit }: ToolContext) => emit('said', `It is ${canary}.`),
    {
      key: 'another-secret',
      n: 5,
    },
  );
  expect(events).toContain(`It is ${canary}.`);
  expect(events).toContain('"n":5');
  expect(events).not.toContain('another-secret');
});
