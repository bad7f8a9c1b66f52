/** What the state needs from the spine. It is passed in, because `state` may not import `call`. */
import type { CallOptions } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import type { Call, FoundCall } from './call.ts';

export interface CallControl {
  /** @param idleMs Given if the idle timeout expired, and not that of the call. */
  expired(call: Call, idleMs?: number): void;
  cancelled(call: Call, reason: unknown): void;
  closed(call: Call): void;
  callChild(
    parent: FoundCall,
    tool: unknown,
    input: unknown,
    options: CallOptions | undefined,
  ): Promise<ToolResult>;
}
