/** No line is lost without being counted: in the log, or by its logger if the log cannot say it. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { type Line, linesIn, setup, tool } from './kit.ts';

/** How many calls a log accounts for: those with a line, and those that it says are missing. */
function accounted(lines: readonly Line[]): number {
  const calls = lines.filter(({ type }) => type === 'call').length;
  return calls + told(lines);
}

function told(lines: readonly Line[]): number {
  return lines.reduce((sum, { type, count }) => sum + (type === 'dropped' ? Number(count) : 0), 0);
}

/** Longest text of an argument that a line can have. */
const long = 'x'.repeat(990_000);

/** What happens to a log: so many long calls at once, a turn of the process, or another sink. */
type Step = number | 'turn' | 'flush' | 'works' | 'throws' | 'rejects' | 'hangs';

describe('whatever happens before a log is closed, it accounts for each call', () => {
  test('in a sink that works, fails, hangs and is slow', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(1, 5, 20) },
      { weight: 2, arbitrary: fc.constantFrom('turn', 'flush') },
      { weight: 2, arbitrary: fc.constantFrom('works', 'throws', 'rejects', 'hangs') },
    );
    const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps: Step[]) => {
      const lines: Line[] = [];
      let mode: Step = 'works';
      let release = (): void => {};
      const sink = (line: string): void | Promise<void> => {
        if (mode === 'throws') throw new Error('no');
        if (mode === 'rejects') return Promise.reject(new Error('no'));
        const write = (): void => void lines.push(JSON.parse(line) as Line);
        if (mode !== 'hangs') return write();
        return new Promise<void>((resolve) => {
          release = resolve;
        }).then(write);
      };
      const registry = new HostToolRegistry({ logger: { warn: () => {}, error: () => {} } });
      registry.register(tool('t'));
      const log = createAuditLog({ sink });
      log.attach(registry);
      const session = registry.createSession({ sessionId: 's' });
      let calls = 0;
      for (const one of steps) {
        if (typeof one === 'number') {
          calls += one;
          // Nothing waits for the calls, so that they find a full queue.
          for (let n = 0; n < one; n++) void session.call('t', { text: long });
        } else if (one === 'turn') await new Promise((resolve) => setImmediate(resolve));
        else if (one === 'flush') {
          if (mode !== 'hangs') await log.flush().catch(() => {});
        } else {
          release();
          mode = one;
        }
      }
      mode = 'works';
      release();
      await new Promise((resolve) => setImmediate(resolve));
      release();
      await log.close();
      expect(accounted(lines)).toBe(calls);
      expect(told(lines)).toBe(log.dropped);
      expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1));
    });
    await fc.assert(property, { numRuns: 25 });
  });

  test('in files, of which new ones begin all the time', async () => {
    const { session, audit, path } = setup({ audit: { rotate: { maxBytes: 1_024 } } });
    for (let n = 0; n < 30; n++) void session.call('t', { text: long });
    await audit.close();
    const { readdirSync } = await import('node:fs');
    const { dirname, join } = await import('node:path');
    const files = readdirSync(dirname(path)).filter((name) => name.startsWith('audit.jsonl'));
    const lines = files.flatMap((name) => linesIn(join(dirname(path), name)));
    expect(audit.dropped).toBeGreaterThan(0);
    expect([accounted(lines), told(lines)]).toEqual([30, audit.dropped]);
    expect(await verifyAudit(path)).toMatchObject({ ok: true });
  });

  test('when no call follows the lost ones: at once when there is room', async () => {
    let release = (): void => {};
    const lines: Line[] = [];
    const { session, audit } = setup({
      audit: {
        sink: async (line) => {
          if (lines.length === 0) await new Promise<void>((resolve) => (release = resolve));
          lines.push(JSON.parse(line) as Line);
        },
      },
    });
    for (let n = 0; n < 20; n++) void session.call('t', { text: long });
    await vi.waitFor(() => expect(audit.dropped).toBeGreaterThan(0));
    release();
    await vi.waitFor(() => expect(accounted(lines)).toBe(20));
    expect([lines.at(-1)?.type, told(lines)]).toEqual(['dropped', audit.dropped]);
  });

  test('where calls are running, which have no line then', async () => {
    const ends: (() => void)[] = [];
    const wait = tool('wait', {
      handler: () => new Promise<void>((resolve) => ends.push(resolve)),
    });
    const { session, registry, audit, lines, faults } = setup({
      tools: [tool('t'), wait],
      registry: { now: () => 5_000 },
    });
    const running = [1, 2].map(() => session.call('wait'));
    const other = audit.attach(session);
    await session.call('t');
    await audit.close();
    expect(lines()).toMatchObject([
      { type: 'call' },
      { type: 'dropped', count: 2, at: 5_000, since: 5_000 },
    ]);
    expect(audit.dropped).toBe(2);
    expect(faults.map(({ message }) => message)).toEqual(['the audit log loses lines']);
    for (const end of ends) end();
    await Promise.all(running);
    other();
    await registry.close();
    expect(audit.dropped).toBe(2);
  });

  test('where calls end while it is being closed', async () => {
    let release = (): void => {};
    const lines: Line[] = [];
    const { session, audit } = setup({
      audit: {
        sink: async (line) => {
          if (lines.length === 0) await new Promise<void>((resolve) => (release = resolve));
          lines.push(JSON.parse(line) as Line);
        },
      },
    });
    await session.call('t');
    const closed = audit.close();
    for (let n = 0; n < 3; n++) await session.call('t');
    release();
    await closed;
    expect(lines).toMatchObject([{ type: 'call' }, { type: 'dropped', count: 3 }]);
  });
});

describe('what cannot be written to the log', () => {
  test('counts as dropped once a log is closed that fails, and the logger is told', async () => {
    const { session, audit, faults } = setup({
      audit: {
        sink: () => {
          throw new Error('full');
        },
      },
    });
    for (let n = 0; n < 3; n++) await session.call('t');
    await expect(audit.close()).rejects.toThrow('full');
    expect(audit.dropped).toBe(3);
    expect(faults.map(({ message }) => message)).toEqual([
      'the audit log cannot be written',
      'the audit log loses lines',
    ]);
  });

  test('also one that hangs, of which the logger is told after 10 seconds', async () => {
    vi.useFakeTimers();
    const { session, audit, faults } = setup({ audit: { sink: () => new Promise(() => {}) } });
    for (let n = 0; n < 3; n++) await session.call('t');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(faults).toMatchObject([
      {
        message: 'the audit log cannot be written',
        err: { message: 'Nothing was written for 10 s.' },
      },
    ]);
    const closed = expect(audit.close()).rejects.toThrow('within 10 s.');
    await vi.advanceTimersByTimeAsync(10_000);
    await closed;
    expect(audit.dropped).toBe(3);
    expect(faults.at(-1)?.message).toBe('the audit log loses lines');
  });

  test('also a call whose line cannot be made', async () => {
    const { session, audit, lines, faults } = setup();
    const { stringify } = JSON;
    const refusing = vi.spyOn(JSON, 'stringify').mockImplementation((value: Line) => {
      if (value.type === 'call') throw new RangeError('Invalid string length');
      return stringify(value);
    });
    await session.call('t');
    refusing.mockRestore();
    await session.call('t');
    await audit.close();
    expect(lines()).toMatchObject([{ type: 'dropped', count: 1 }, { type: 'call' }]);
    expect(faults).toMatchObject([{ message: 'the audit log loses lines' }]);
  });
});

describe('calls that wait for nothing', () => {
  test('give the process a turn before the queue is full, so that nothing is lost', async () => {
    const { session, audit, lines } = setup();
    for (let n = 0; n < 12_000; n++) await session.call('t', { n });
    await audit.close();
    expect([audit.dropped, lines().length]).toEqual([0, 12_000]);
  });

  test('also many at once, of which more wait than have room', async () => {
    const { session, audit, lines } = setup({
      tools: [tool('t', { handler: () => new Promise((resolve) => setImmediate(resolve)) })],
    });
    for (let n = 0; n < 6_000; n++) void session.call('t', { n });
    await Promise.all(Array.from({ length: 20_000 }, (_, n) => session.call('t', { n })));
    await audit.close();
    expect(accounted(lines())).toBe(26_000);
  });

  test.each([
    ['a log', false],
    ['a required log', true],
  ])(
    'or only for a policy, of which many more come at once than %s has room for',
    async (_, required) => {
      // No time passes for the log, however long the calls take on a busy machine.
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      let lines = 0;
      const sink = (): Promise<void> =>
        new Promise((resolve) => {
          lines++;
          setImmediate(resolve);
        });
      const { session, audit } = setup({
        audit: { sink, required },
        registry: { policies: [{ id: 'p', check: async () => undefined }] },
      });
      const results = await Promise.all(
        Array.from({ length: 12_000 }, (__, n) => session.call('t', { n })),
      );
      // Each is judged once more after it has waited, however long the others take.
      expect(results.filter(({ success }) => !success)).toEqual([]);
      await audit.close();
      expect([audit.dropped, lines]).toEqual([0, required ? 24_000 : 12_000]);
    },
  );

  test('go on if those that were let in before them add no line for a while', async () => {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { session, audit } = setup({
      tools: [tool('t'), tool('slow', { handler: () => finished })],
    });
    for (let n = 0; n < 5_001; n++) void session.call('t', { n });
    const slow = Array.from({ length: 3_000 }, (_, n) => session.call('slow', { n }));
    expect((await session.call('t')).success).toBe(true);
    finish();
    for (const { success } of await Promise.all(slow)) expect(success).toBe(true);
    await audit.close();
    expect(audit.dropped).toBe(0);
  });

  test('do not wait for a sink that hangs or fails', async () => {
    const hung = setup({ audit: { sink: () => new Promise(() => {}) } });
    const failing = setup({ audit: { sink: () => Promise.reject(new Error('no')) } });
    vi.useFakeTimers();
    let done = 0;
    const calling = (async () => {
      for (; done < 10_100; done++) await hung.session.call('t');
    })();
    await vi.advanceTimersByTimeAsync(999);
    expect(done).toBe(5_001);
    await vi.advanceTimersByTimeAsync(1);
    await calling;
    expect(hung.audit.dropped).toBe(100);
    for (let n = 0; n < 10_100; n++) await failing.session.call('t');
    expect(failing.audit.dropped).toBe(100);
    for (const { audit } of [hung, failing]) {
      const closed = audit.close().catch(() => {});
      await vi.advanceTimersByTimeAsync(10_000);
      await closed;
    }
  });

  test('are judged again after the turn', async () => {
    const { session, registry, audit, lines } = setup({
      tools: [tool('t'), tool('last')],
    });
    onTestFinished(() => registry.close());
    for (let n = 0; n < 5_001; n++) await session.call('t');
    const last = session.call('last');
    registry.addRules([{ effect: 'deny', reason: 'since_then' }]);
    expect(await last).toMatchObject({ error: { reason: 'since_then' } });
    await audit.flush();
    expect(lines().at(-1)).toMatchObject({ tool: 'last', reason: 'since_then' });
  });
});
