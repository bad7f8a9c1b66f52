/** What the tests of sandboxes share. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import {
  type ProcessExecutorOptions,
  processExecutor,
  workerExecutor,
} from '../../../src/executors/sandbox/index.ts';
import {
  defineTool,
  type Executor,
  HostToolRegistry,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';

/** The address of a module of `handlers`. */
export function handlerOf(name: string): URL {
  return new URL(`./handlers/${name}.js`, import.meta.url);
}

type Common = Omit<ProcessExecutorOptions, 'permissions' | 'cwd' | 'bubblewrap'>;

/** Each kind of sandbox, by its name. */
export const kinds: readonly (readonly [string, (options: Common) => Executor])[] = [
  ['thread', workerExecutor],
  ['process', processExecutor],
];

/** A session with one tool that runs on the executor. */
export function sandboxed(
  executor: Executor,
  more: object = {},
  registry = new HostToolRegistry(),
): { session: ToolSession; registry: HostToolRegistry; run: Run } {
  registry.register(
    defineTool({
      name: 'sandboxed',
      description: 'Runs in a sandbox.',
      parameters: { type: 'object' },
      executor,
      ...more,
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  const run: Run = (input, options) => session.call('sandboxed', input, options);
  return { session, registry, run };
}

export type Run = (
  input: object,
  options?: Parameters<ToolSession['call']>[2],
) => Promise<ToolResult>;

/** Runs one call, and closes what it needed. */
export async function once(executor: Executor, input: object = {}): Promise<unknown> {
  const { registry, run } = sandboxed(executor);
  const { output, error } = await run(input);
  await registry.close();
  return error ?? output;
}

/** Expects that nothing writes to the file any more. */
export async function expectQuiet(file: string): Promise<void> {
  const size = (): number => (existsSync(file) ? readFileSync(file).length : 0);
  await expect
    .poll(async () => {
      const before = size();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return size() - before;
    })
    .toBe(0);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that nobody has waited for is dead all the same.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

/** Whether a process of Linux ignores SIGTERM, which is the bit 14. */
export function ignoresTerm(pid: number): boolean {
  const [, mask = '0'] =
    /^SigIgn:\s+(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & (1n << 14n)) !== 0n;
}
