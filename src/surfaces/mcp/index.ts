/**
 * The Model Context Protocol in both directions: serving a session's tools to MCP clients, and
 * importing the tools of MCP servers.
 */

export type { NodeRequest } from '../../values/http/node-request.ts';
export type { NodeResponse } from '../../values/http/node-response.ts';
export type { Pin as McpPin } from '../shared/import-options.ts';
export type { PinDrift as McpDrift } from '../shared/pins.ts';
export type {
  McpAuth,
  McpAuthByProvider,
  McpAuthorizationCode,
  McpAuthProvider,
  McpClientCredentials,
  McpEnterprise,
  McpPrivateKeyJwt,
} from './client/auth-options.ts';
export { type ImportMcpOptions, importMcpTools, type McpConnection } from './client/import.ts';
export type { ImportedMcpTools } from './client/imported-tools.ts';
export type { McpHttpConnection } from './client/open-http.ts';
export type { McpStdioConnection } from './client/open-stdio.ts';
export type { AnyResultSchema, ConnectedMcpClient, McpRequestOptions } from './client/sdk.ts';
export type { McpImportFailure, McpImportWarning } from './client/server-tools.ts';
export type { McpAuthorization, McpScope, McpToken } from './server/authorization-options.ts';
export { createMcpHandler, type McpHandler } from './server/handler.ts';
export { type JwtOptions, jwtVerifier } from './server/jwt.ts';
export type { LineInput, LineOutput } from './server/line-streams.ts';
export { toNodeListener } from './server/node.ts';
export type {
  McpCaller,
  McpEventStore,
  McpHandlerOptions,
  McpOwnScheme,
  McpResourceServer,
  McpServingOptions,
  McpSessionRecord,
  McpSessionStore,
  McpSource,
  McpTaskOptions,
} from './server/options.ts';
export { type McpStdio, type McpStdioOptions, serveMcpStdio } from './server/stdio.ts';
