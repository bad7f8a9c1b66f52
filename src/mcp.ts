/** Tools over the Model Context Protocol: a session's tools for its clients, and other servers' tools as ours. */

export type { ImportedMcpTools, ImportMcpOptions, McpConnection, McpImportFailure } from './mcp/client-import.ts';
export { importMcpTools } from './mcp/client-import.ts';
export type { McpHttpConnection, McpStdioConnection } from './mcp/client-open.ts';
export type { McpDrift, McpPin } from './mcp/client-pins.ts';
export type { AnyResultSchema, ConnectedMcpClient, McpRequestOptions } from './mcp/client-sdk.ts';
export { createMcpHandler, type McpHandler } from './mcp/server-handler.ts';
export type { LineInput, LineOutput } from './mcp/server-lines.ts';
export { type NodeRequest, type NodeResponse, toNodeListener } from './mcp/server-node.ts';
export type { McpCaller, McpEventStore, McpHandlerOptions, McpSessionRecord, McpSessionStore, McpSource } from './mcp/server-options.ts';
export { type McpStdio, type McpStdioOptions, serveMcpStdio } from './mcp/server-stdio.ts';
