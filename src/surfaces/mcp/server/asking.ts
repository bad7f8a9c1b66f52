/**
 * What a call may ask of the client behind its request, in the 2025 era of the protocol. In the
 * 2026 era a server cannot ask while it works.
 */
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import type {
  Approver,
  JsonObject,
  JsonSchema,
  JsonValue,
  SurfaceClient,
  ToolSession,
} from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { longestTimerMs } from '../../../values/options/index.ts';
import { approvalAnswer, approvalForm, unshowable } from './approval.ts';
import type { CallContext } from './call-context.ts';

/**
 * Longest wait for one answer, in milliseconds. The timeout of the call and the expiry of an
 * approval usually come first.
 */
const longestWaitMs = 600_000;

/** True if the client shows forms to its user. A bare `elicitation: {}` means forms. */
export function offersForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}

/**
 * Makes `context.client`; undefined if the client offers neither forms nor sampling. What the user
 * writes into a form is remembered as said by the user, unless the form itself offered it.
 * @param ended aborts when the call ends
 */
export function askingClient(
  session: ToolSession,
  ctx: CallContext,
  capabilities: ClientCapabilities | undefined,
  ended: AbortController,
): SurfaceClient | undefined {
  const forms = offersForms(capabilities);
  const sampling = capabilities?.sampling !== undefined;
  if (!forms && !sampling) return undefined;
  const options = { signal: ended.signal, timeout: longestWaitMs };
  return {
    ...(sampling
      ? {
          sample: async (request: JsonObject) =>
            (await ctx.mcpReq.send(
              { method: 'sampling/createMessage', params: request },
              options,
            )) as JsonObject,
        }
      : {}),
    ...(forms
      ? {
          elicit: async ({
            message,
            requestedSchema,
          }: {
            message: string;
            requestedSchema: JsonSchema;
          }) => {
            const { action, content } = await ctx.mcpReq.send(
              { method: 'elicitation/create', params: { message, requestedSchema } },
              options,
            );
            if (action !== 'accept' || content === undefined) return { action };
            const filled = { form: requestedSchema as JsonValue, answers: content as JsonObject };
            inspectSession(session).heard(filled, 'user');
            return { action, content: content as JsonObject };
          },
        }
      : {}),
  };
}

/** Asks the client's user, over the request that the call came with. */
export function askingApprover(ctx: CallContext, always: boolean): Approver {
  return async (request, { signal }) => {
    const form = approvalForm(request, always);
    if (form === undefined) return unshowable;
    const timeout = Math.max(1, Math.min(longestTimerMs, request.expiresAt - request.requestedAt));
    const answer = await ctx.mcpReq.send(
      { method: 'elicitation/create', params: { ...form } },
      { signal, timeout },
    );
    return approvalAnswer(answer, always);
  };
}
