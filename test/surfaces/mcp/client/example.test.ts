/** The example plays as it says. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryServer, playImport } from '../../../../examples/import-mcp.ts';

const program = (() => {
  try {
    return memoryServer(
      process.env.MCP_SERVERS === undefined ? undefined : join(process.env.MCP_SERVERS, 'x.js'),
    );
  } catch {
    process.stderr.write(
      'test/surfaces/mcp/client/example.test.ts: @modelcontextprotocol/server-memory is not ' +
        'installed; the example is not played.\n',
    );
    return undefined;
  }
})();

test.runIf(program !== undefined)(
  'an agent reads and is seen writing, and deletes nothing',
  async () => {
    expect(await playImport(program as string)).toEqual([
      'memory.create_entities: ran',
      'memory.add_observations: approval_denied (rejected)',
      'memory.delete_entities: policy_denied (keeps_everything)',
      'memory.search_nodes: ran',
    ]);
  },
);
