/** A tool as it is mounted: the object that the coordinator gets. */

import type { CallOptions, Surface } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import type { HostTool } from '../../api/session.ts';
import { type ReadCallOptions, readCallOptions, readToolOptions } from '../call/call-options.ts';
import { callTool } from '../call/spine.ts';
import { serializeOutput } from '../serialize.ts';
import { readToolArguments } from '../session/bind-host-tool.ts';
import type { SessionState } from '../session/session-state.ts';
import type { CancellationPort, Coordinator } from './coordinator.ts';

/** A host tool that also has the names that the amplifier runtime reads. */
export interface MountedTool extends HostTool {
  /** The same object as `inputSchema`. */
  readonly input_schema: HostTool['inputSchema'];
  /** Returns the same object as `inputSchema`. */
  get_schema(): HostTool['inputSchema'];
  /** The same as `requiresApproval`. */
  readonly requires_approval: boolean;
  /**
   * Calls the tool. If the coordinator is cancelled, the call does not start and ends as
   * `cancelled`.
   */
  execute(input: unknown, options?: CallOptions): Promise<MountedResult>;
}

/** A result with the method by which the amplifier runtime reads the text for the model. */
export type MountedResult = ToolResult & { get_serialized_output(): string };

const surface: Surface = Object.freeze({ name: 'mount' });

/** Makes the object to mount: plain, frozen, not callable. It holds no handler. */
export function createMountedTool(
  tool: HostTool,
  coordinator: Coordinator,
  state: SessionState,
): MountedTool {
  const { name, inputSchema, requiresApproval } = tool;
  const execute = (input: unknown, options?: CallOptions): Promise<MountedResult> => {
    const own = readToolOptions(options, false) ?? readCallOptions({});
    // The runtime's token is read, not listened to: it only keeps later calls from starting.
    const signal = isCancelled(coordinator) ? AbortSignal.abort() : own?.signal;
    return callTool(state, name, readToolArguments(input, inputSchema), {
      ...(own as ReadCallOptions),
      signal,
      surface,
    }).then(withText);
  };
  return Object.freeze({
    ...tool,
    fingerprint: tool.fingerprint,
    execute: Object.freeze(execute),
    input_schema: inputSchema,
    get_schema: Object.freeze(() => inputSchema),
    requires_approval: requiresApproval,
  });
}

/** The method is not enumerable, so the result compares, spreads and serialises as any other. */
function withText(result: ToolResult): MountedResult {
  return Object.defineProperty(result, 'get_serialized_output', {
    value: () => serializeOutput(result),
  }) as MountedResult;
}

function isCancelled(coordinator: Coordinator): boolean {
  try {
    const { cancellation } = coordinator;
    return (
      typeof cancellation === 'object' &&
      cancellation !== null &&
      (cancellation as CancellationPort).isCancelled === true
    );
  } catch {
    return false;
  }
}
