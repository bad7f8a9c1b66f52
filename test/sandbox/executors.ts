/** What the tests of sandboxes share. */
import {
  defineTool,
  type Executor,
  HostToolRegistry,
  type ToolResult,
  type ToolSession,
} from '../../src/index.ts';
import {
  type ProcessExecutorOptions,
  processExecutor,
  workerExecutor,
} from '../../src/sandbox/index.ts';

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
): { session: ToolSession; registry: HostToolRegistry; run: Run } {
  const registry = new HostToolRegistry();
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
