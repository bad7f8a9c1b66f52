/** Routes for agents that call tools over REST, and for the host's answers to approvals. */
import type { ApprovalAnswer, JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { isNoArguments } from '../../shared/payload.ts';
import type { RequestStatus } from '../calls/request-status.ts';
import type { SessionDocument } from '../ports/documents.ts';
import { isRelayError, type RelayError, relayError } from '../relay-error.ts';
import { callBody, fieldOf, parseBody, readObject } from './bodies.ts';
import type { NodeParts, SessionHandlers } from './node-parts.ts';
import { answer } from './responses.ts';

/** A call that an agent requests. */
export interface ReadRequest {
  readonly requestId: string | undefined;
  readonly tool: string;
  readonly args: JsonValue | undefined;
  readonly wait: boolean;
}

const decisions: ReadonlySet<unknown> = new Set([
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
]);

/** Makes the handlers of these routes. */
export function agentRoutes({
  limits,
  requests,
  counters,
}: NodeParts): Pick<SessionHandlers, 'request' | 'request-status' | 'request-cancel' | 'approval'> {
  return {
    async request({ request, bounds, document }) {
      const { tool, wait, requestId, args } = readRequest(await readObject(request, bounds));
      const call = { tool, wait, requestId, args, use: limits.uses.request, onStored: undefined };
      const given = await requests.submit(document, call);
      if (!('result' in given)) return answer(202, given);
      counters.called(given.result);
      return answer(200, given);
    },

    async 'request-status'({ params: { requestId = '' }, document }) {
      await limits.takeBySide('read', document.code, 'agent');
      const status = isRequestId(requestId)
        ? await requests.status(document.code, requestId)
        : undefined;
      if (status === undefined) throw requestNotFound();
      return answer(200, status);
    },

    async 'request-cancel'({ params: { requestId = '' }, document }) {
      return answer(200, await cancelCall({ limits, requests }, document, requestId));
    },

    async approval({ request, bounds, params: { approvalId = '' }, document }) {
      const decision = readDecision(await readObject(request, bounds));
      const decided =
        approvalId === '' || approvalId.length > 1_024
          ? undefined
          : await requests.decide(document, approvalId, decision);
      if (decided === undefined)
        throw relayError(
          404,
          'approval_not_found',
          'No approval with this id waits in this session.',
        );
      return answer(200, decided);
    },
  };
}

/**
 * Cancels an agent's call.
 * @throws RelayError 404 `request_not_found`, 429
 */
export async function cancelCall(
  { limits, requests }: Pick<NodeParts, 'limits' | 'requests'>,
  document: SessionDocument,
  requestId: unknown,
): Promise<RequestStatus> {
  await limits.takeBySide('read', document.code, 'agent');
  const status = isRequestId(requestId) ? await requests.cancel(document, requestId) : undefined;
  if (status === undefined) throw requestNotFound();
  return status;
}

function requestNotFound(): RelayError {
  return relayError(404, 'request_not_found', 'This session has no such request.');
}

/**
 * Reads `{ requestId?, tool, args?, wait? }`, or the same members under older names.
 * @throws RelayError 400, 413
 */
export function readRequest(body: JsonObject): ReadRequest {
  const requestId = fieldOf(body, 'requestId', 'id') ?? undefined;
  if (requestId !== undefined && !isRequestId(requestId))
    throw invalidRequestId(', or to be left out');
  const tool = fieldOf(body, 'tool', 'toolName', 'name');
  if (typeof tool !== 'string' || tool === '' || tool.length > 1_024)
    throw invalid('tool', 'the name of a tool');
  const sent = fieldOf(body, 'args', 'arguments', 'input');
  const args = isNoArguments(sent) ? undefined : sent;
  if (args !== undefined && typeof args !== 'string' && !isJsonObject(args))
    throw invalid('args', 'a JSON object, or a string that holds one');
  const wait = fieldOf(body, 'wait') ?? true;
  if (typeof wait !== 'boolean') throw invalid('wait', 'true or false');
  return { tool, wait, requestId, args: args === undefined ? undefined : readArgs(args) };
}

/**
 * Reads the id that a frame must have, since without it the agent could not tell answers apart.
 * @param need what the id is for
 * @throws RelayError 400 `missing_request_id`, `invalid_request_id`
 */
export function requiredId(frame: JsonObject, need: string): string {
  const requestId = fieldOf(frame, 'requestId', 'id') ?? undefined;
  if (requestId === undefined)
    throw relayError(400, 'missing_request_id', `Expected \`requestId\`: ${need}.`);
  if (!isRequestId(requestId)) throw invalidRequestId('');
  return requestId;
}

function invalidRequestId(otherwise: string): RelayError {
  return relayError(
    400,
    'invalid_request_id',
    'Expected `requestId` to have 1 to 128 characters of A-Z, a-z, 0-9, `_`, `.`, `:` and ' +
      `\`-\`${otherwise}.`,
  );
}

/**
 * Reads a string that holds a JSON object as that object. The tool's schema refuses other strings.
 * @throws RelayError 413 for too many values
 */
function readArgs(args: JsonValue): JsonValue {
  if (typeof args !== 'string') return args;
  try {
    const read = parseBody(args, callBody);
    return isJsonObject(read) ? read : args;
  } catch (error) {
    if (isRelayError(error) && error.status === 413) throw error;
    return args;
  }
}

function isRequestId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9_.:-]{1,128}$/.test(id);
}

/**
 * Reads `{ decision, by?, message?, input?, grant? }`, like the answer of
 * `session.approvals.resume`. The whole answer may also be in `decision`.
 */
function readDecision(given: JsonObject): ApprovalAnswer {
  const body =
    isJsonObject(given.decision) && Object.keys(given).length === 1 ? given.decision : given;
  const absent: Record<string, unknown> = {
    decision: undefined,
    by: undefined,
    message: undefined,
    input: undefined,
    grant: undefined,
  };
  const { decision, by, message, input, grant, ...rest } = { ...absent, ...body };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalid(unknown.slice(0, 60), 'absent');
  if (!decisions.has(decision))
    throw relayError(
      400,
      'invalid_decision',
      `Expected \`decision\` to be one of ${[...decisions].join(', ')}.`,
    );
  for (const [key, value] of Object.entries({ by, message }))
    if (value !== undefined && (typeof value !== 'string' || value.length > 2_000))
      throw invalid(key, 'a string of at most 2000 characters');
  for (const [key, value] of Object.entries({ input, grant }))
    if (value !== undefined && !isJsonObject(value)) throw invalid(key, 'a JSON object');
  if (grant !== undefined) checkGrant(grant as JsonObject);
  return body as ApprovalAnswer;
}

function checkGrant(grant: JsonObject): void {
  const absent: Record<string, unknown> = {
    match: undefined,
    uses: undefined,
    expiresInMs: undefined,
  };
  const { match, uses, expiresInMs, ...rest } = { ...absent, ...grant };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalid(`grant.${unknown.slice(0, 60)}`, 'absent');
  if (match !== undefined && match !== 'input' && match !== 'tool')
    throw invalid('grant.match', '"input" or "tool"');
  if (uses !== undefined && !(Number.isInteger(uses) && (uses as number) > 0))
    throw invalid('grant.uses', 'a whole number from 1');
  if (expiresInMs !== undefined && !(typeof expiresInMs === 'number' && expiresInMs > 0))
    throw invalid('grant.expiresInMs', 'a number above 0');
}

function invalid(field: string, expected: string): RelayError {
  return relayError(400, 'invalid_request', `Expected \`${field}\` to be ${expected}.`);
}
