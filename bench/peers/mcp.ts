/** MCP: a client and a server in one process, over the SDK's in-memory transport. */
import { input } from '../fixtures.ts';
import type { FamilyResult } from '../targets.ts';
import { compareCall, holdsAnswer } from './compare-call.ts';
import { missing } from './load.ts';
import { connectMcp } from './mcp-connection.ts';
import { versionOf } from './version.ts';

export async function measure(): Promise<FamilyResult> {
  const connection = await connectMcp();
  if (connection === undefined)
    return missing('@modelcontextprotocol/server', '@modelcontextprotocol/client');
  const result = await compareCall(
    'peer_mcp',
    () => connection.client.callTool({ name: 'forecast', arguments: input }),
    holdsAnswer,
    await versionOf('@modelcontextprotocol/server'),
  );
  await connection.close();
  return result;
}
