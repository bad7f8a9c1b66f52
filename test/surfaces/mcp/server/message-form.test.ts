import { parseJSONRPCMessage } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readExactly, requestIdOf } from '../../../../src/surfaces/mcp/server/line-splitter.ts';
import { readMessage } from '../../../../src/surfaces/mcp/server/rpc.ts';

/** Whether the protocol's package takes it. */
function isTakenByPackage(value: unknown): boolean {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    return false;
  }
}

const odd = fc.constantFrom<unknown>(
  5,
  1.5,
  2 ** 60,
  'x',
  null,
  true,
  [],
  {},
  { taskId: 'x' },
  { taskId: 1 },
  { code: 1, message: 'x' },
);
const meta = fc.oneof(
  odd,
  fc.dictionary(
    fc.constantFrom(
      'progressToken',
      'io.modelcontextprotocol/related-task',
      'io.modelcontextprotocol/serverInfo',
      '__proto__',
      'x',
    ),
    odd,
  ),
);
const withMeta = fc.oneof(odd, fc.record({ _meta: meta, x: odd }, { requiredKeys: [] }));
const failure = fc.oneof(
  odd,
  fc.record({ code: odd, message: odd, data: odd, x: odd }, { requiredKeys: [] }),
);
const message = fc
  .record(
    {
      id: fc.oneof(fc.integer(), odd),
      method: fc.oneof(fc.constant('ping'), odd),
      params: withMeta,
      result: withMeta,
      error: failure,
      x: odd,
    },
    { requiredKeys: [] },
  )
  .chain((members) =>
    // Most members at once fit nothing.
    fc
      .subarray(Object.keys(members), { maxLength: Math.min(4, Object.keys(members).length) })
      .map((keys) =>
        Object.fromEntries(keys.map((key) => [key, members[key as keyof typeof members]])),
      ),
  )
  .map((members) => JSON.parse(JSON.stringify({ jsonrpc: '2.0', ...members })) as unknown);

test('accepts exactly the messages that the protocol’s package accepts', () => {
  let taken = 0;
  let dropped = 0;
  let runs = 0;
  fc.assert(
    fc.property(message, (value) => {
      runs++;
      const isTaken = readExactly(value) !== undefined;
      expect(isTaken).toBe(isTakenByPackage(value) && readMessage(value) !== undefined);
      if (isTaken) taken++;
      else if (readMessage(value) !== undefined) dropped++;
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(taken, dropped)).toBeGreaterThan(runs / 150);
});

test.each<[string, object, unknown]>([
  [
    'a request with a member that no request has',
    { jsonrpc: '2.0', id: 1, method: 'ping', x: 1 },
    1,
  ],
  [
    'a request whose parameters are no object',
    { jsonrpc: '2.0', id: 'a', method: 'ping', params: [1] },
    'a',
  ],
  ['a request without a version', { id: 2, method: 'ping' }, 2],
  ['an answer', { jsonrpc: '2.0', id: 1, result: {}, x: 1 }, null],
  ['an id that is no whole number', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, null],
  [
    'an id of more than 256 characters',
    { jsonrpc: '2.0', id: 'x'.repeat(257), method: 'ping' },
    null,
  ],
])('of %s, the id for its error is known where it is a request’s', (_what, value, id) => {
  expect(requestIdOf(value)).toBe(id);
});
