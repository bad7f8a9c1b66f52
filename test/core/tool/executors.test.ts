/** When executors are disposed: after their last tool, in whichever registry that is. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type AnyTool,
  defineTool,
  type Executor,
  HostToolRegistry,
  type ToolSession,
} from '../../../src/index.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** An executor that writes down what happens to it, and a tool that it runs. */
function shared(dispose: () => Promise<void> | void = () => {}): {
  tool: AnyTool<unknown>;
  log: string[];
} {
  const log: string[] = [];
  const executor: Executor = {
    execute: async () => log.push('execute'),
    dispose() {
      log.push('dispose');
      return dispose();
    },
  };
  const parameters = { type: 'object' } as const;
  const tool = defineTool({ name: 'remote', description: 'Runs far away.', parameters, executor });
  return { tool, log };
}

function open(tool: AnyTool<unknown>, warnings: string[] = []): [HostToolRegistry, ToolSession] {
  const warn = (_data: object, message?: string): void => void warnings.push(message ?? '');
  const registry = new HostToolRegistry({ logger: { warn, error: warn }, policyTimeoutMs: 3_000 });
  registry.register(tool);
  return [registry, registry.createSession({ sessionId: 's' })];
}

/** A promise and what resolves it. */
function gate(): { passed: Promise<void>; pass: () => void } {
  let pass = (): void => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, pass };
}

describe('an executor that two registries have', () => {
  test('is disposed once, when the last of them closes', async () => {
    const { tool, log } = shared();
    const [first] = open(tool);
    const [second, session] = open(tool);
    await first.close();
    expect(log).toEqual([]);
    expect(await session.call('remote')).toMatchObject({ success: true });
    await second.close();
    expect(log).toEqual(['execute', 'dispose']);
  });

  test('stays when its tool is unregistered in one of them', async () => {
    const { tool, log } = shared();
    const [first] = open(tool);
    const [second] = open(tool);
    first.unregister('remote');
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual([]);
    second.unregister('remote');
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual(['dispose']);
    await Promise.all([first.close(), second.close()]);
    expect(log).toEqual(['dispose']);
  });

  test('stays while a session has it as a tool of its own', async () => {
    const { tool, log } = shared();
    const [first] = open(tool);
    const second = new HostToolRegistry();
    const session = second.createSession({ sessionId: 's' });
    session.register(tool);
    await first.close();
    expect(log).toEqual([]);
    await session.close();
    expect(log).toEqual(['dispose']);
  });
});

describe('an executor that was disposed', () => {
  test('is used again by a later registration, and disposed again', async () => {
    const { tool, log } = shared();
    const [first] = open(tool);
    await first.close();
    const [second, session] = open(tool);
    expect(await session.call('remote')).toMatchObject({ success: true });
    await second.close();
    expect(log).toEqual(['dispose', 'execute', 'dispose']);
  });

  test('gets a call that comes meanwhile once it is disposed', async () => {
    const { passed, pass } = gate();
    const { tool, log } = shared(() => passed);
    const [first] = open(tool);
    const closed = first.close();
    await vi.advanceTimersByTimeAsync(0);
    const [second, session] = open(tool);
    const call = session.call('remote');
    const cancelled = new AbortController();
    const other = session.call('remote', {}, { signal: cancelled.signal });
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual(['dispose']);
    cancelled.abort();
    expect((await other).error).toMatchObject({
      code: 'cancelled',
      message: 'The call was cancelled before it started.',
    });
    pass();
    expect(await call).toMatchObject({ success: true });
    expect(log).toEqual(['dispose', 'execute']);
    await Promise.all([closed, second.close()]);
  });

  test.each<readonly [how: string, dispose: () => Promise<void>, warning: string]>([
    [
      'never ends',
      () => new Promise(() => {}),
      'disposing an executor took too long; it is not waited for',
    ],
    ['fails', () => Promise.reject(new Error('It broke.')), 'disposing an executor failed'],
  ])('does not keep the registry from closing if that %s', async (_, dispose, warning) => {
    const { tool } = shared(dispose);
    const warnings: string[] = [];
    const [registry] = open(tool, warnings);
    const closed = registry.close();
    await vi.advanceTimersByTimeAsync(3_000);
    await closed;
    expect(warnings).toEqual([warning]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
