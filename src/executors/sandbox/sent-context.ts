/** The parts of a call's context that are sent to a sandbox. */
import type { Credential, ToolContext } from '../../core.ts';
import { copyJson } from '../../values/json/index.ts';
import type { SentCall, SentContext, SentCredential } from './messages.ts';

/** The members that are the same for all calls of a session to one tool. */
interface Lasting
  extends Pick<
    ToolContext,
    'sessionId' | 'cwd' | 'environment' | 'metadata' | 'toolName' | 'knobs'
  > {
  readonly principal: string | undefined;
  readonly sample: boolean;
  readonly elicit: boolean;
}

/** Copies the whole context. Throws if the knobs cannot be sent. */
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
    credentials: sentCredentials(context),
    knobs: knobs.value,
    sample: takes(client?.sample),
    elicit: takes(client?.elicit),
  };
}

/** Whether the agent's client has the function that answers such questions. */
function takes(question: unknown): boolean {
  return typeof question === 'function';
}

/** Copies the members that differ from call to call. */
export function sentCall(context: ToolContext): SentCall {
  const { callId, deadline, idempotencyKey } = context;
  return { callId, deadline, idempotencyKey, credentials: sentCredentials(context) };
}

/** Those of the call, which its tool has asked for; undefined for most calls. */
function sentCredentials({ credentials }: ToolContext): readonly SentCredential[] | undefined {
  // A context that others have made may lack the member.
  const given: Readonly<Record<string, Credential>> | undefined = credentials;
  const all = Object.entries(given ?? {});
  return all.length === 0
    ? undefined
    : all.map(([name, { token, expiresAt }]) => ({ name, token, expiresAt }));
}

/**
 * Remembers the context that a sandbox got last, so that it is not sent again with each call of the
 * same session. Objects are compared by identity, which is enough because the objects in a context
 * are frozen.
 */
export class LastContext {
  #last: Lasting | undefined;

  /** Whether the context differs from the last one only in the members of {@link SentCall}. */
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
