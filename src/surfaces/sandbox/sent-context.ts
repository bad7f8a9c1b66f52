/** What of a call's context crosses the boundary of a sandbox. */
import type { ToolContext } from '../../index.ts';
import { copyJson } from '../../json/index.ts';
import type { SentCall, SentContext } from './messages.ts';

/** What the calls of a session to one tool have in common. */
interface Lasting
  extends Pick<
    ToolContext,
    'sessionId' | 'cwd' | 'environment' | 'metadata' | 'toolName' | 'knobs'
  > {
  readonly principal: string | undefined;
  readonly sample: boolean;
  readonly elicit: boolean;
}

/** The whole context. Throws if the knobs cannot cross. */
export function sentContext(context: ToolContext): SentContext {
  const { client } = context;
  const knobs = copyJson(context.knobs, { maxDepth: 64, maxValues: 100_000 });
  if (!knobs.ok)
    throw new TypeError(
      `Expected knobs that are JSON, since they cross the boundary of a sandbox: ${knobs.message}.`,
    );
  return {
    sessionId: context.sessionId,
    cwd: context.cwd,
    environment: context.environment,
    metadata: context.metadata,
    principal: context.principal,
    callId: context.callId,
    toolName: context.toolName,
    deadline: context.deadline,
    idempotencyKey: context.idempotencyKey,
    knobs: knobs.value,
    sample: takes(client?.sample),
    elicit: takes(client?.elicit),
  };
}

/** Whether the agent's client answers such questions. */
function takes(question: unknown): boolean {
  return typeof question === 'function';
}

/** What differs from call to call. */
export function sentCall({ callId, deadline, idempotencyKey }: ToolContext): SentCall {
  return { callId, deadline, idempotencyKey };
}

/**
 * Remembers what a sandbox knows of the last call's session, so that it is not sent again with
 * each call. Objects are compared by identity. Those in the context of a call are frozen.
 */
export class LastContext {
  #last: Lasting | undefined;

  /** Whether only the call's own members differ from the last context. */
  fits(context: ToolContext): boolean {
    const last = this.#last;
    if (last === undefined) return false;
    const { client } = context;
    return (
      context.sessionId === last.sessionId &&
      context.metadata === last.metadata &&
      context.environment === last.environment &&
      context.knobs === last.knobs &&
      context.toolName === last.toolName &&
      context.cwd === last.cwd &&
      context.principal === last.principal &&
      takes(client?.sample) === last.sample &&
      takes(client?.elicit) === last.elicit
    );
  }

  keep(context: ToolContext): void {
    const { sessionId, cwd, environment, metadata, principal, toolName, knobs, client } = context;
    const [sample, elicit] = [takes(client?.sample), takes(client?.elicit)];
    this.#last =
      Object.isFrozen(environment) && Object.isFrozen(metadata) && Object.isFrozen(knobs)
        ? { sessionId, cwd, environment, metadata, principal, toolName, knobs, sample, elicit }
        : undefined;
  }
}
