/**
 * JSON Schemas of the relay's bodies and answers, which are the components of its OpenAPI document.
 */
import type { JsonObject } from '../../../core.ts';
import { errorStatus, rateLimitCodes } from './openapi-errors.ts';
import {
  anyObject,
  anything,
  count,
  list,
  names,
  object,
  ref,
  side,
  string,
  time,
  toolSchemas,
} from './openapi-tool-schemas.ts';

/** The schemas by name. */
export const schemas: Readonly<Record<string, JsonObject>> = {
  Error: object(
    {
      error: { enum: Object.keys(errorStatus) },
      message: {
        type: 'string',
        description: 'For people: what was expected, what was got, and what to do.',
      },
      code: {
        enum: [...rateLimitCodes, ...Object.keys(errorStatus)],
        description: 'The older code if there is one, else `error` again.',
      },
      failedTools: list(ref('FailedTool')),
      path: { type: 'string', description: 'Of `validation_error`: the field, if it is known.' },
    },
    ['failedTools', 'path'],
  ),
  Empty: { type: 'object', additionalProperties: false },
  CreatedSession: object({
    code: ref('Code'),
    sessionToken: { type: 'string', description: "The application's token." },
    agentToken: { type: 'string', description: "The agent's token." },
    ttl: { type: 'number', description: 'Seconds.' },
    expiresAt: time,
  }),
  Code: {
    type: 'string',
    pattern: '^[A-Z2-7]{8}$',
    description: 'An alias for pairing, never a credential.',
  },
  RequestId: { type: 'string', pattern: '^[A-Za-z0-9_.:-]{1,128}$' },
  PairRequest: object({ side }),
  Paired: object({ code: ref('Code'), side, token: string, expiresAt: time }),
  Extension: object(
    {
      ttlSeconds: {
        type: 'number',
        minimum: 1,
        maximum: 2_000_000,
        description: 'How long the session is to live from now on.',
      },
    },
    [],
    { additionalProperties: false },
  ),
  Extended: object({
    code: ref('Code'),
    ttl: { type: 'number', description: 'Seconds from now on.' },
    expiresAt: time,
  }),
  Ticket: object({ ticket: string, expiresAt: time }),
  ...toolSchemas,
  Response: {
    description: 'Has `result` (any JSON, also 0, false, "" and null) or `error`.',
    ...object({ requestId: string, result: anything, error: anything }, ['result', 'error'], {
      anyOf: [{ required: ['result'] }, { required: ['error'] }],
    }),
  },
  Progress: object(
    {
      requestId: string,
      done: { type: 'number', minimum: 0 },
      total: { type: 'number', minimum: 0 },
      message: { type: 'string', description: 'One line. Over 256 bytes it is cut.' },
    },
    ['total', 'message'],
  ),
  ResponseTaken: object({ success: { const: true }, requestId: string }),
  Request: object(
    {
      requestId: {
        ...ref('RequestId'),
        description: 'The same id again is the same request. Generated if it is left out.',
      },
      tool: { type: 'string', minLength: 1 },
      args: {
        type: ['object', 'string'],
        description: 'An object, or a string with the JSON of one.',
      },
      wait: {
        type: 'boolean',
        default: true,
        description: 'False: answer as soon as the call has passed its checks.',
      },
    },
    ['requestId', 'args', 'wait'],
  ),
  ToolResult: {
    anyOf: [
      object({ success: { const: true }, output: anything, metadata: anyObject }, ['output']),
      object({
        success: { const: false },
        error: object({ code: string, message: string }),
        metadata: anyObject,
      }),
    ],
  },
  RequestDone: object({ requestId: ref('RequestId'), result: ref('ToolResult') }),
  RequestQueued: object({ requestId: ref('RequestId'), status: { const: 'queued' } }),
  RequestStatus: object(
    {
      requestId: ref('RequestId'),
      status: { enum: ['queued', 'running', 'done'] },
      result: ref('ToolResult'),
    },
    ['result'],
  ),
  Decision: object(
    {
      decision: { enum: ['allow_once', 'allow_always', 'reject_once', 'reject_always'] },
      by: string,
      message: string,
      input: anyObject,
      grant: object(
        {
          match: { enum: ['input', 'tool'] },
          uses: { type: 'integer', minimum: 1 },
          expiresInMs: { type: 'number', exclusiveMinimum: 0 },
        },
        ['match', 'uses', 'expiresInMs'],
      ),
    },
    ['by', 'message', 'input', 'grant'],
    { additionalProperties: false },
  ),
  Decided: object(
    {
      approvalId: string,
      requestId: string,
      status: { enum: ['queued', 'running', 'done'] },
      result: ref('ToolResult'),
    },
    ['result'],
  ),
  Events: object({ events: list(object({ id: count, event: string, data: anyObject }, ['id'])) }),
  Health: object({ status: { const: 'ok' } }),
  Readiness: object({ status: { enum: ['ready', 'not_ready'] }, reasons: names }, ['reasons']),
  JsonRpc: {
    description: 'A message of the Model Context Protocol, or a batch of them.',
    type: ['object', 'array'],
  },
};
