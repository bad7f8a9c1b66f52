/** A registry with a few tools, and a session with code mode over it. */
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type PendingApproval,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';

export const key = 'a key of at least thirty-two bytes, for tests';
export const yes = { decision: 'allow_once', by: 'user:bob' } as const;
export const no = { decision: 'reject_once', by: 'user:bob', message: 'Too much.' } as const;

/** What the tools of one world have done, in order. */
export interface World {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  readonly did: string[];
  /** Runs a program, and returns what it returned, or its error. */
  run(code: string): Promise<unknown>;
}

export interface WorldOptions {
  readonly registry?: RegistryOptions;
  readonly session?: Partial<SessionOptions>;
  readonly tools?: readonly AnyTool<unknown>[];
}

/** The tools of every world. What they do is noted. */
export function tools(did: string[]): AnyTool<unknown>[] {
  return [
    defineTool({
      name: 'read',
      description: 'Reads a document.',
      parameters: z.object({ id: z.string().describe('Its id.') }),
      annotations: { readOnly: true },
      handler: ({ id }) => {
        did.push(`read ${id}`);
        return { id, text: `text of ${id}` };
      },
    }),
    defineTool({
      name: 'pay',
      description: 'Pays an amount.',
      parameters: z.object({ amount: z.number() }),
      requiresApproval: ({ amount }) => amount >= 10,
      handler: ({ amount }) => {
        did.push(`pay ${amount}`);
        return `paid ${amount}`;
      },
    }),
    defineTool({
      name: 'files.list',
      description: 'Lists files.',
      parameters: z.object({}),
      handler: () => ['a', 'b'],
    }),
  ] as AnyTool<unknown>[];
}

export function world({
  registry: options,
  session: more,
  tools: others,
}: WorldOptions = {}): World {
  const did: string[] = [];
  const registry = new HostToolRegistry(options);
  for (const tool of [...tools(did), ...(others ?? [])]) registry.register(tool);
  const session = registry.createSession({ sessionId: 'chat', code: {}, ...more });
  onTestFinished(() => registry.close());
  const run = async (code: string): Promise<unknown> => {
    const { success, output, error } = await session.call('run_code', { code });
    return success ? output : { code: error?.code, reason: error?.reason };
  };
  return { registry, session, did, run };
}

/** The same, with calls that a person must allow suspended. */
export function suspending(options: WorldOptions = {}): World {
  return world({
    ...options,
    registry: { approvals: { secret: key }, ...options.registry },
    session: { principal: 'user:ann', approvalMode: 'suspend', ...options.session },
  });
}

/** The question that a suspended call asks first. */
export const questionOf = (result: ToolResult): PendingApproval | undefined =>
  result.success ? undefined : result.approval;

export const tokenOf = (result: ToolResult): string => questionOf(result)?.token as string;
