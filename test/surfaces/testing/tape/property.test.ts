import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  content,
  defineTool,
  fail,
  type JsonValue,
  ok,
  serializeOutput,
  type ToolResult,
} from '../../../../src/index.ts';
import {
  createTestSession,
  recordTape,
  replayTape,
  type Tape,
  type TestSession,
} from '../../../../src/surfaces/testing/index.ts';

interface Step {
  readonly tool: string;
  readonly input: JsonValue;
}

const any = { type: 'object' } as const;

/**
 * Tools whose answers depend on how often they were called: an answer from the wrong place of the
 * tape shows.
 */
function statefulTools(): AnyTool<unknown>[] {
  let count = 0;
  const next = (): number => ++count;
  return [
    defineTool({
      name: 'raw',
      description: 'Raw.',
      parameters: { ...any, properties: { a: { default: { b: 1 } } } },
      handler: (input) => ({ n: next(), input: input as JsonValue }),
    }),
    defineTool({
      name: 'zod',
      description: 'Zod.',
      parameters: z.looseObject({ a: z.coerce.number().default(7) }),
      handler: async ({ a }) => ok([next(), Number.isFinite(a)], { n: count }),
    }),
    defineTool({
      name: 'strict',
      description: 'Strict.',
      parameters: z.object({ a: z.number().refine((a) => a % 2 === 0, 'even only') }),
      handler: () => next(),
    }),
    defineTool({
      name: 'fails',
      description: 'Fails.',
      parameters: any,
      handler: () => fail({ message: `No ${next()}.`, reason: 'nope', retryable: count % 2 === 0 }),
    }),
    defineTool({
      name: 'throws',
      description: 'Throws.',
      parameters: any,
      handler: () => {
        throw new Error(`Broken ${next()}.`);
      },
    }),
    defineTool({
      name: 'parts',
      description: 'Parts.',
      parameters: any,
      handler: () => [content.text(String(next()))],
    }),
  ];
}

const step: fc.Arbitrary<Step> = fc.record({
  tool: fc.constantFrom('raw', 'zod', 'strict', 'fails', 'throws', 'parts', 'nix'),
  input: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record(
        {
          a: fc.constantFrom<JsonValue>(1, 2, '1', 'x', null, { b: 1 }),
          c: fc.constantFrom<JsonValue>(1, [2]),
        },
        { requiredKeys: [] },
      ),
    },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue> },
  ),
});

const untimed = ({
  metadata: { durationMs: _, callId: _id, ...metadata },
  ...result
}: ToolResult): unknown => ({ ...result, metadata });
const run = async (session: TestSession, steps: readonly Step[]): Promise<ToolResult[]> => {
  const results: ToolResult[] = [];
  for (const { tool, input } of steps) results.push(await session.call(tool, input));
  return results;
};
const record = async (steps: readonly Step[]): Promise<{ tape: Tape; results: ToolResult[] }> => {
  const session = createTestSession({ tools: statefulTools() });
  const { tape } = recordTape(session);
  const results = await run(session, steps);
  return { tape: JSON.parse(JSON.stringify(tape())) as Tape, results };
};
const faithful = { mismatches: [], unconsumed: [], undeclared: [] };

function shuffled(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(shuffled);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item as JsonValue)]),
  );
}

describe('any script', () => {
  test('replays to the same results with an empty report, keys shuffled or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, shuffle) => {
        const { tape, results } = await record(steps);
        const replay = replayTape(tape);
        const again = await run(
          createTestSession({ tools: replay.tools }),
          shuffle ? steps.map(({ tool, input }) => ({ tool, input: shuffled(input) })) : steps,
        );
        expect(again.map((result) => JSON.parse(JSON.stringify(untimed(result))))).toEqual(
          results.map((result) => JSON.parse(JSON.stringify(untimed(result)))),
        );
        if (!shuffle) expect(again.map(serializeOutput)).toEqual(results.map(serializeOutput));
        expect(replay.report()).toEqual(faithful);
      }),
      { numRuns: 100 },
    );
  });

  test('replays with its tools interleaved in any other way', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        async (steps, picks) => {
          const { tape, results } = await record(steps);
          // Each tool keeps its own order; which tool is next is chance.
          const queues = new Map<string, number[]>();
          for (const [index, { tool }] of steps.entries())
            queues.set(tool, [...(queues.get(tool) ?? []), index]);
          const order: number[] = [];
          while (order.length < steps.length) {
            const left = [...queues.values()].filter(({ length }) => length > 0);
            order.push(left[(picks.next().value as number) % left.length]!.shift()!);
          }
          const replay = replayTape(tape);
          const again = await run(
            createTestSession({ tools: replay.tools }),
            order.map((index) => steps[index]!),
          );
          expect(again.map(untimed)).toEqual(order.map((index) => untimed(results[index]!)));
          expect(replay.report()).toEqual(faithful);
        },
      ),
      { numRuns: 100 },
    );
  });

  test(
    'that is replayed in part leaves exactly the rest, and one that goes on gets no further ' +
      'answer',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 10 }),
          fc.array(step, { maxLength: 4 }),
          fc.nat(10),
          async (steps, more, cut) => {
            const { tape } = await record(steps);
            const partly = replayTape(tape);
            await run(createTestSession({ tools: partly.tools }), steps.slice(0, cut));
            expect(partly.report().unconsumed.map(({ index }) => index)).toEqual(
              tape.calls.flatMap((call, index) => (call.ran && index >= cut ? [index] : [])),
            );

            const beyond = replayTape(tape);
            const session = createTestSession({ tools: beyond.tools });
            await run(session, steps);
            const reached = (await run(session, more)).filter(
              ({ error }) => error?.code !== 'tool_not_found' && error?.code !== 'invalid_input',
            );
            const { mismatches, unconsumed, undeclared } = beyond.report();
            expect([mismatches, unconsumed]).toEqual([[], []]);
            expect(undeclared).toHaveLength(reached.length);
            for (const { error } of reached)
              expect(error).toMatchObject({
                code: 'handler_error',
                reason: 'tape_undeclared_call',
              });
          },
        ),
        { numRuns: 100 },
      );
    },
  );
});
