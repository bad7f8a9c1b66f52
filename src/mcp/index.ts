/**
 * Tools over the Model Context Protocol: a session's tools for its clients, and other servers'
 * tools as ours.
 */

export type { NodeRequest } from '../http/node-request.ts';
export type { NodeResponse } from '../http/node-response.ts';
export type {
  ImportedMcpTools,
  ImportMcpOptions,
  McpConnection,
  McpImportFailure,
} from './client/import.ts';
export { importMcpTools } from './client/import.ts';
export type { McpHttpConnection, McpStdioConnection } from './client/open.ts';
export type { McpDrift, McpPin } from './client/pins.ts';
export type { AnyResultSchema, ConnectedMcpClient, McpRequestOptions } from './client/sdk.ts';
export { createMcpHandler, type McpHandler } from './server/handler.ts';
export type { LineInput, LineOutput } from './server/lines.ts';
export { toNodeListener } from './server/node.ts';
export type {
  McpCaller,
  McpEventStore,
  McpHandlerOptions,
  McpSessionRecord,
  McpSessionStore,
  McpSource,
} from './server/options.ts';
export { type McpStdio, type McpStdioOptions, serveMcpStdio } from './server/stdio.ts';
