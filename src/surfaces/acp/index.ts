/** The Agent Client Protocol: gates between agents and their clients. */

export type {
  AcpExit,
  AcpFiles,
  AcpOutput,
  AcpTerminalRef,
  AcpTerminals,
} from './client-handlers.ts';
export {
  type AcpAgentSession,
  type AcpConnectionOptions,
  type AcpPeer,
  fromAcpConnection,
} from './from-acp-connection.ts';
export type { OnUnasked } from './gate.ts';
export { type AcpClient, type AcpClientOptions, toAcpClient } from './to-acp-client.ts';
