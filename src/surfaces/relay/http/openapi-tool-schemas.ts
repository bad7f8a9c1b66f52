/** JSON Schemas of registrations, updates and metadata. */
import type { JsonObject } from '../../../core.ts';

// Parts that the JSON Schemas of the relay's OpenAPI document are made of.

export const string: JsonObject = { type: 'string' };
const boolean: JsonObject = { type: 'boolean' };
export const count: JsonObject = { type: 'integer', minimum: 0 };
export const anything: JsonObject = {};
export const anyObject: JsonObject = { type: 'object' };
export const time: JsonObject = { type: 'string', format: 'date-time' };
export const names: JsonObject = { type: 'array', items: string };
export const side: JsonObject = { enum: ['application', 'agent'] };
const nullableString: JsonObject = { type: ['string', 'null'] };

/** Makes a reference to a schema of the document. */
export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Makes the schema of an object. Members are required unless `optional` names them. */
export function object(
  properties: JsonObject,
  optional: readonly string[] = [],
  more: JsonObject = {},
): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...more };
}

/** Makes the schema of an array. */
export function list(of: JsonObject): JsonObject {
  return { type: 'array', items: of };
}

/** Makes the schema of an array that may also be null. */
function nullableList(of: JsonObject): JsonObject {
  return { type: ['array', 'null'], items: of };
}

/** The schemas by name. */
export const toolSchemas: Readonly<Record<string, JsonObject>> = {
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
      constraints: anyObject,
    },
    ['parameters', 'inputSchema', 'outputSchema', 'title', 'annotations', 'constraints'],
  ),
  ListedTool: object(
    {
      name: string,
      description: string,
      parameters: anyObject,
      outputSchema: anyObject,
      title: string,
      annotations: anyObject,
      constraints: anyObject,
      status: { const: 'active' },
      registeredAt: time,
      usageCount: count,
    },
    [
      'outputSchema',
      'title',
      'annotations',
      'constraints',
      // The tools of the host have none of these.
      'status',
      'registeredAt',
      'usageCount',
    ],
  ),
  Capability: {
    description: 'A word, or an object. An object may have other members too.',
    anyOf: [
      string,
      object(
        {
          type: nullableString,
          level: nullableString,
          resources: nullableList(anything),
          permissions: nullableList(string),
        },
        ['type', 'level', 'resources', 'permissions'],
      ),
    ],
  },
  Environment: object(
    {
      version: nullableString,
      features: nullableList(string),
      limitations: nullableList(string),
      contextInfo: object(
        {
          dataContexts: { type: ['number', 'null'] },
          components: nullableList(anything),
          activeDatasets: nullableList(string),
          userPermissions: nullableList(string),
        },
        ['dataContexts', 'components', 'activeDatasets', 'userPermissions'],
        { type: ['object', 'null'] },
      ),
    },
    ['version', 'features', 'limitations', 'contextInfo'],
    { description: 'It may have other members too.' },
  ),
  FailedTool: object({ toolName: string, error: string, recoverable: boolean }),
  ToolWarning: {
    ...object({ toolName: string, path: string, message: string }),
    description: 'A part of the schemas of an accepted tool that the relay does not check.',
  },
  Registration: object(
    {
      pluginType: string,
      pluginVersion: string,
      capabilities: list(ref('Capability')),
      availableTools: list(ref('ToolDefinition')),
      environment: ref('Environment'),
      constraints: anyObject,
    },
    ['pluginVersion', 'capabilities', 'environment', 'constraints'],
  ),
  Registered: object(
    {
      success: { const: true },
      registeredTools: names,
      failedTools: list(ref('FailedTool')),
      warnings: list(ref('ToolWarning')),
      sessionConfiguration: object({
        toolCount: count,
        capabilities: list(anything),
        environment: anyObject,
        constraints: anyObject,
      }),
      toolsRevision: count,
    },
    ['warnings'],
  ),
  ToolsUpdate: object(
    {
      added: list(ref('ToolDefinition')),
      removed: names,
      modified: list(ref('ToolDefinition')),
      reason: string,
    },
    ['added', 'removed', 'modified', 'reason'],
  ),
  Updated: object(
    {
      success: boolean,
      added: names,
      removed: names,
      modified: names,
      notFound: names,
      failedTools: {
        ...list(ref('FailedTool')),
        description:
          'Refused definitions. The error of one for which the session has no room begins with ' +
          '`too_many_tools`. Only an update that alone has too many is answered with 413.',
      },
      warnings: list(ref('ToolWarning')),
      toolsRevision: count,
    },
    ['warnings'],
  ),
  Metadata: {
    anyOf: [
      object({
        apiVersion: { const: '2.0.0' },
        sessionId: ref('Code'),
        pluginType: nullableString,
        pluginVersion: nullableString,
        capabilities: list(anything),
        tools: list(ref('ListedTool')),
        environment: anyObject,
        constraints: anyObject,
        connected: boolean,
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
};
