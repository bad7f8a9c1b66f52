import { describe, expect, test, vi } from 'vitest';
import { jsonSchema } from '../../../src/index.ts';
import { dispatchCalls } from '../../../src/surfaces/shared/dispatch.ts';
import { type Dialect, listingOf } from '../../../src/surfaces/shared/listing.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';

const plain = (): Dialect => ({
  convert: vi.fn((schema) => ({ schema, losses: [{ path: '/x', message: 'x was dropped' }] })),
});
const tool = (name: string, requires?: string) =>
  mockTool({
    name,
    parameters: jsonSchema<object>({ type: 'object' }),
    ...(requires === undefined ? {} : { requires: [{ fact: requires, equals: true }] }),
  });

describe('listingOf', () => {
  test('shows the effective tools in order, under names that fit, with the losses of each', () => {
    const session = createTestSession({ tools: [tool('b.c'), tool('a')] });
    const { shown, nameMap, warnings } = listingOf(session, plain());
    expect(shown.map(({ name, tool: { name: id } }) => [name, id])).toEqual([
      ['b_c', 'b.c'],
      ['a', 'a'],
    ]);
    expect([...nameMap]).toEqual([
      ['b_c', 'b.c'],
      ['a', 'a'],
    ]);
    expect(warnings).toEqual(
      ['b.c', 'a'].map((name) => ({ tool: name, path: '/x', message: 'x was dropped' })),
    );
  });

  test(
    'is the same object until the tools change, and a schema is converted once a dialect, for ' +
      'all sessions',
    () => {
      const dialect = plain();
      const session = createTestSession({ tools: [tool('one'), tool('two', 'open')] });
      const other = session.registry.createSession({ sessionId: 'other', facts: { open: true } });
      const first = listingOf(session, dialect);
      expect(listingOf(session, dialect)).toBe(first);
      listingOf(other, dialect);
      session.setFacts({ open: true });
      expect(listingOf(session, dialect).shown.map(({ name }) => name)).toEqual(['one', 'two']);
      expect(dialect.convert).toHaveBeenCalledTimes(2);
    },
  );

  test('an alias does not change because a tool is hidden', () => {
    const session = createTestSession({ tools: [tool('a.b'), tool('a/b', 'open')] });
    const dialect = plain();
    const hidden = listingOf(session, dialect);
    session.setFacts({ open: true });
    expect(listingOf(session, dialect).shown[0]?.name).toBe(hidden.shown[0]?.name);
    expect(hidden.nameMap.size).toBe(1);
    expect(hidden.known.size).toBe(2);
  });
});

describe('dispatchCalls', () => {
  test('one answer per call id, in order, even for hidden and unparsable calls', async () => {
    const session = createTestSession({ tools: [tool('a.b'), tool('c', 'open')] });
    const listing = listingOf(session, plain());
    const answers = await dispatchCalls(
      session,
      listing,
      [
        { id: '1', name: 'a_b', input: '{}' },
        { id: '2', name: 'c', input: {} },
        { id: '3', name: 'constructor', input: {} },
        { id: '4', name: 'a_b', input: '{"broken' },
        { id: '1', name: 'a_b', input: {} },
        { id: '5', name: 'a_b', input: undefined },
      ],
      { name: 'test' },
    );
    expect(answers.map(({ call, outcome }) => [call.id, outcome.error?.code ?? 'ok'])).toEqual([
      ['1', 'ok'],
      ['2', 'tool_not_available'],
      ['3', 'tool_not_found'],
      ['4', 'invalid_input'],
      ['1', 'duplicate_call_id'],
      ['5', 'ok'],
    ]);
  });
});
