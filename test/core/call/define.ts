/** A registry and a session over tools that a test names. */
import {
  type AnyEvent,
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
  type ToolSession,
} from '../../../src/index.ts';

/** A tool that takes any object and answers `"ran"`, unless told otherwise. */
export function define(name: string, more: Record<string, unknown> = {}): AnyTool<unknown> {
  const way =
    'create' in more || 'executor' in more || 'external' in more ? {} : { handler: () => 'ran' };
  return defineTool({
    name,
    description: `Does ${name}.`,
    parameters: { type: 'object' },
    ...way,
    ...more,
  } as never) as AnyTool<unknown>;
}

export interface Setup {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  /** What the registry's listeners heard, in order. */
  readonly events: AnyEvent[];
  /** `type` of those events, with the code of an error. */
  told(): string[];
}

export function setup(
  tools: readonly AnyTool<unknown>[],
  sessionOptions: Partial<SessionOptions> = {},
  registryOptions: RegistryOptions = {},
): Setup {
  const registry = new HostToolRegistry(registryOptions);
  registry.registerAll(tools);
  const events: AnyEvent[] = [];
  const session = registry.createSession({ sessionId: 's', ...sessionOptions });
  registry.events.on('*', (event) => void events.push(event));
  return {
    registry,
    session,
    events,
    told: () =>
      events.map((event) =>
        event.type === 'tool:error' ? `tool:error ${event.error.code}` : event.type,
      ),
  };
}

/** The end of a thrown error's message and its code, or nothing. */
export function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

/**
 * The second of two, once the first was done: for a callback that notes something and answers
 * something else.
 */
export function andThen<T>(_done: unknown, answer: T): T {
  return answer;
}
