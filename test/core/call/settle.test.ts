import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { ToolContext } from '../../../src/index.ts';
import { gate, outcome, turns, world } from './world.ts';

/** More than the budget of these tests, and JSON only once it has been copied. */
const large = () => ({ at: new Date(0), text: 'x'.repeat(1_000) });
const budget = { maxOutputChars: 200 };

describe('an output that is over its budget', () => {
  test('is JSON for an after hook, and whole', async () => {
    const seen: unknown[] = [];
    const w = world({ hooks: [{ after: (_, { output }) => void seen.push(output) }] });
    expect((await w.run(large, budget)).metadata.truncated).toBeDefined();
    expect(seen).toEqual([{ at: '1970-01-01T00:00:00.000Z', text: 'x'.repeat(1_000) }]);
  });

  test('is JSON for its schema, which is asked first', async () => {
    const { error } = await world().run(large, {
      ...budget,
      outputSchema: z.object({ at: z.string(), text: z.string() }),
    });
    expect(error?.reason).toBe('output_too_large');
    expect(
      (await world().run(large, { ...budget, outputSchema: z.object({ at: z.number() }) })).error
        ?.reason,
    ).toBe('output_schema');
  });

  test('is copied no further than that, so that what follows may be anything', async () => {
    const value = () => ['x'.repeat(1_000), () => 1];
    expect((await world().run(value, budget)).metadata.truncated).toBeDefined();
    expect((await world().run(value)).error?.reason).toBe('not_json');
  });

  test('has its secrets found before it is cut', async () => {
    const w = world({}, { redact: ['key'] });
    await w.run(() => ({ key: { toJSON: () => 'CANARY-CANARY' }, ...large() }), budget);
    expect(w.of('tool:post')).toHaveLength(1);
    expect(JSON.stringify(w.events)).not.toContain('CANARY');
  });
});

describe('once the handler has come to its end', () => {
  afterEach(() => void vi.useRealTimers());

  test.each<[string, () => unknown]>([
    ['returned', () => 1],
    [
      'thrown',
      () => {
        throw new Error('no');
      },
    ],
  ])(
    'and has %s, its clocks stand still and its context tells nothing, though a hook is still ' +
      'at work',
    async (_, end) => {
      vi.useFakeTimers();
      const hold = gate();
      let context: ToolContext | undefined;
      const w = world({ hooks: [{ after: () => hold.promise }] }, { policyTimeoutMs: 60_000 });
      const calling = w.run(
        (_input: never, given: ToolContext) => {
          context = given;
          return end();
        },
        { timeoutMs: 1_000, idleTimeoutMs: 500 },
      );
      await vi.advanceTimersByTimeAsync(5_000);
      context?.emit('late');
      context?.progress(1);
      hold.open();
      expect(['handler_error', 1]).toContain(outcome(await calling));
      expect([...w.of('tool:event'), ...w.of('tool:progress')]).toEqual([]);
    },
  );

  test('a call that ends while its hooks are at work meets no output schema', async () => {
    const hold = gate();
    const w = world({ hooks: [{ after: () => hold.promise }] });
    const check = vi.fn(() => true);
    const calling = w.run(() => 1, { outputSchema: z.number().refine(check) });
    await turns();
    await w.session.close();
    expect(outcome(await calling)).toBe('session_closed');
    hold.open();
    await turns();
    expect(check).not.toHaveBeenCalled();
  });

  test('a logger that ends the call when it hears what was thrown ends it once', async () => {
    const w = world({}, { logger: { warn: () => {}, error: () => void w.session.close() } });
    const { error } = await w.run(() => {
      throw new Error('no');
    });
    expect(error?.code).toBe('session_closed');
    await turns();
    expect(w.of('tool:error')).toHaveLength(1);
    expect(w.session.metrics()).toMatchObject({ calls: 1, cancelled: 1 });
  });

  test(
    'a failure stays what it is where there is an output schema: there is no output to ask ' +
      'about',
    async () => {
      const w = world({ hooks: [{ after: () => undefined }] });
      const { error } = await w.run(
        () => {
          throw new Error('no');
        },
        { outputSchema: z.number() },
      );
      expect(error?.code).toBe('handler_error');
    },
  );

  test.each<[string, boolean]>([
    ['at once', false],
    ['later', true],
  ])(
    'an output schema that answers %s ends a call that has ended meanwhile no second time',
    async (_, waits) => {
      const hold = gate();
      const w = world();
      const calling = w.run(() => 1, {
        outputSchema: z.number().refine(() => {
          void w.session.close();
          return waits ? hold.promise.then(() => true) : true;
        }),
      });
      expect(outcome(await calling)).toBe('session_closed');
      hold.open();
      await turns();
      expect(w.of('tool:post')).toEqual([]);
      expect(w.of('tool:error')).toHaveLength(1);
    },
  );
});
