import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolSession } from '../../../src/index.ts';
import { dispatchAnthropic } from '../../../src/surfaces/anthropic/index.ts';
import { dispatchGemini } from '../../../src/surfaces/gemini/index.ts';
import { dispatchOpenAI } from '../../../src/surfaces/openai/index.ts';
import { createTestSession } from '../../../src/surfaces/testing/index.ts';
import { providerTools } from '../provider-fixtures.ts';

const name = fc.constantFrom('weather_today', 'weather.today', 'push', 'hidden', 'constructor', '');
const args = fc.oneof(
  fc.json(),
  fc.jsonValue(),
  fc.constantFrom('{"city":"Oslo"}', { city: 'Oslo' }, undefined),
);
const id = fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.jsonValue());
const noise = fc.jsonValue();

interface Surface {
  readonly dispatch: (session: ToolSession, payload: never) => Promise<readonly unknown[]>;
  /** One call in the provider's words. */
  readonly call: fc.Arbitrary<unknown>;
  readonly wrap: (items: readonly unknown[]) => unknown;
  /** The id of an answer. */
  readonly idOf: (answer: never) => unknown;
  readonly idOfCall: (call: never) => unknown;
}
const surfaces: readonly (readonly [string, Surface])[] = [
  [
    'Chat Completions',
    {
      dispatch: dispatchOpenAI,
      call: fc.record({
        id,
        type: fc.constant('function'),
        function: fc.record({ name, arguments: args }),
      }),
      wrap: (tool_calls) => ({ role: 'assistant', tool_calls }),
      idOf: ({ tool_call_id }: { tool_call_id: unknown }) => tool_call_id,
      idOfCall: (call: { id: unknown }) => call.id,
    },
  ],
  [
    'Responses',
    {
      dispatch: dispatchOpenAI,
      call: fc.record({ call_id: id, type: fc.constant('function_call'), name, arguments: args }),
      wrap: (output) => ({ output }),
      idOf: ({ call_id }: { call_id: unknown }) => call_id,
      idOfCall: (call: { call_id: unknown }) => call.call_id,
    },
  ],
  [
    'Messages',
    {
      dispatch: dispatchAnthropic,
      call: fc.record({ id, type: fc.constant('tool_use'), name, input: args }),
      wrap: (content) => ({ content }),
      idOf: ({ tool_use_id }: { tool_use_id: unknown }) => tool_use_id,
      idOfCall: (call: { id: unknown }) => call.id,
    },
  ],
  [
    'Gemini',
    {
      dispatch: dispatchGemini,
      call: fc.record({ functionCall: fc.record({ id, name, args }) }),
      wrap: (parts) => ({ candidates: [{ content: { parts } }] }),
      idOf: ({ functionResponse }: { functionResponse: { id?: unknown } }) =>
        functionResponse.id ?? '',
      idOfCall: (call: { functionCall: { id: unknown } }) => call.functionCall.id,
    },
  ],
];

describe.each(surfaces)('%s', (_, { dispatch, call, wrap, idOf, idOfCall }) => {
  test('every call has one answer, in order, whatever is between them', async () => {
    const items = fc.array(
      fc.oneof(
        call.map((one) => ({ call: one })),
        fc
          .constantFrom(null, 'text', 1, { type: 'text', text: 'Words.' })
          .map((other) => ({ other })),
      ),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(items, async (list) => {
        const session = createTestSession({ tools: providerTools() });
        const answers = await dispatch(
          session,
          wrap(list.map((item) => ('call' in item ? item.call : item.other))) as never,
        );
        const ids = list.flatMap((item) => ('call' in item ? [idOfCall(item.call as never)] : []));
        expect(answers.map((answer) => idOf(answer as never))).toEqual(
          ids.map((one) => (typeof one === 'string' || typeof one === 'number' ? String(one) : '')),
        );
        expect(() => JSON.stringify(answers)).not.toThrow();
        await session.registry.close();
      }),
      { numRuns: 60 },
    );
  });

  test('any JSON is read without a throw, or refused as no payload', async () => {
    const session = createTestSession({ tools: providerTools() });
    await fc.assert(
      fc.asyncProperty(noise, async (payload) => {
        const outcome = await dispatch(session, payload as never).catch(
          (error: { code?: unknown }) => error.code,
        );
        expect(
          Array.isArray(payload)
            ? Array.isArray(outcome)
            : Array.isArray(outcome) || outcome === 'invalid_option',
        ).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
