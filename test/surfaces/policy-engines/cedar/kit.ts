/** Asks a policy about calls, by a registry of its own. */
import {
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type Policy,
  type SessionOptions,
  type ToolResult,
} from '../../../../src/index.ts';

export interface Asked {
  /** `allowed`, or the reason of the denial. */
  readonly outcome: string;
  readonly result: ToolResult;
  /** The errors that the host's logger got. */
  readonly logged: readonly Error[];
}

/** Calls the tool `transfer` under a policy. By default nothing else allows it. */
export async function askAbout(
  policy: Policy,
  input: JsonObject = {},
  session: Partial<SessionOptions> = {},
  tool: Record<string, unknown> = {},
  fallback: 'allow' | 'deny' = 'deny',
): Promise<Asked> {
  const logged: Error[] = [];
  const registry = new HostToolRegistry({
    default: fallback,
    policies: [policy],
    logger: { warn: () => {}, error: (data) => void logged.push((data as { err: Error }).err) },
  });
  registry.register(
    defineTool({
      name: 'transfer',
      description: 'Moves money.',
      parameters: { type: 'object' },
      handler: () => 'moved',
      ...tool,
    } as never),
  );
  const result = await registry
    .createSession({ sessionId: 'chat-1', principal: 'ada', ...session })
    .call((tool.name as string | undefined) ?? 'transfer', input);
  await registry.close();
  const { error } = result;
  return {
    outcome: error === undefined ? 'allowed' : (error.reason ?? error.code),
    result,
    logged,
  };
}
