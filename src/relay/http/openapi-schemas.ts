/**
 * JSON Schemas of the relay's bodies and answers, which are the components of its OpenAPI document.
 */
import type { JsonObject } from '../../index.ts';
import { errorStatus, rateLimitCodes } from './openapi-errors.ts';

const string: JsonObject = { type: 'string' };
const boolean: JsonObject = { type: 'boolean' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const anything: JsonObject = {};
const anyObject: JsonObject = { type: 'object' };
const time: JsonObject = { type: 'string', format: 'date-time' };
const names: JsonObject = { type: 'array', items: string };
const side: JsonObject = { enum: ['application', 'agent'] };
const nullableString: JsonObject = { type: ['string', 'null'] };

/** Makes a reference to one of {@link schemas}. */
export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function object(
  properties: JsonObject,
  optional: readonly string[] = [],
  more: JsonObject = {},
): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...more };
}

/** Makes the schema of an array. */
function list(of: JsonObject): JsonObject {
  return { type: 'array', items: of };
}

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
    },
    ['failedTools'],
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
  Ticket: object({ ticket: string, expiresAt: time }),
  ToolDefinition: object(
    {
      name: { type: 'string', minLength: 1 },
      description: { type: 'string', description: 'At most 8 KB.' },
      parameters: {
        type: 'object',
        description: 'A JSON Schema of type object. `inputSchema` is also read.',
      },
      inputSchema: anyObject,
      outputSchema: anyObject,
      title: string,
      annotations: anyObject,
    },
    ['parameters', 'inputSchema', 'outputSchema', 'title', 'annotations'],
  ),
  FailedTool: object({ toolName: string, error: string, recoverable: boolean }),
  Registration: object(
    {
      pluginType: string,
      pluginVersion: string,
      capabilities: list(anything),
      availableTools: list(ref('ToolDefinition')),
      environment: anyObject,
    },
    ['pluginVersion', 'capabilities', 'environment'],
  ),
  Registered: object({
    success: { const: true },
    registeredTools: names,
    failedTools: list(ref('FailedTool')),
    sessionConfiguration: object({
      toolCount: count,
      capabilities: list(anything),
      environment: anyObject,
    }),
    toolsRevision: count,
  }),
  ToolsUpdate: object(
    {
      added: list(ref('ToolDefinition')),
      removed: names,
      modified: list(ref('ToolDefinition')),
      reason: string,
    },
    ['added', 'removed', 'modified', 'reason'],
  ),
  Updated: object({
    success: boolean,
    added: names,
    removed: names,
    modified: names,
    notFound: names,
    failedTools: list(ref('FailedTool')),
    toolsRevision: count,
  }),
  Metadata: {
    anyOf: [
      object({
        apiVersion: { const: '2.0.0' },
        sessionId: ref('Code'),
        pluginType: nullableString,
        pluginVersion: nullableString,
        capabilities: list(anything),
        tools: list(anyObject),
        environment: anyObject,
        toolCount: count,
        lastUpdated: time,
        supportedOperations: names,
      }),
      object({
        apiVersion: { const: '1.0.0' },
        toolManifestVersion: string,
        supportedVersions: names,
        tools: list(anyObject),
        sessionCode: ref('Code'),
        generatedAt: time,
        expiresAt: time,
      }),
    ],
  },
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
