/**
 * Another server's tools under our policy, offline: `npx tsx examples/import-mcp.ts` starts the MCP
 * memory server, and lets an agent read but not delete.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HostToolRegistry } from '../src/index.ts';
import { importMcpTools } from '../src/surfaces/mcp/index.ts';

/** Where the server's program is, as npm installed it. */
export function memoryServer(from: string = import.meta.url): string {
  return join(
    dirname(createRequire(from).resolve('@modelcontextprotocol/server-memory/package.json')),
    'dist/index.js',
  );
}

/** Plays one conversation; answers what became of each call. */
export async function playImport(program: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'import-mcp-'));
  // Nothing of this process's environment reaches the server but what it needs, and what is named
  // here.
  const imported = await importMcpTools(
    {
      command: process.execPath,
      args: [program],
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    },
    { name: 'memory', prefix: 'memory.' },
  );
  const registry = new HostToolRegistry({
    rules: [
      {
        id: 'nothing-is-forgotten',
        effect: 'deny',
        source: 'mcp:memory',
        tools: 'memory.delete_*',
        reason: 'keeps_everything',
      },
      {
        id: 'writing-is-seen',
        effect: 'ask',
        source: 'mcp:memory',
        tools: ['memory.create_*', 'memory.add_*'],
      },
    ],
  });
  registry.registerAll(imported.tools);
  const session = registry.createSession({
    sessionId: 'example',
    services: undefined,
    approver: ({ tool }) => (tool.name === 'memory.create_entities' ? 'allow_once' : 'reject_once'),
  });
  const seen: string[] = [];
  const call = async (name: string, input: object): Promise<void> => {
    const { success, error } = await session.call(name, input);
    const reason = error?.reason === undefined ? '' : ` (${error.reason})`;
    seen.push(`${name}: ${success ? 'ran' : `${error.code}${reason}`}`);
  };
  try {
    await call('memory.create_entities', {
      entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote notes'] }],
    });
    await call('memory.add_observations', {
      observations: [{ entityName: 'Ada', contents: ['likes engines'] }],
    });
    await call('memory.delete_entities', { entityNames: ['Ada'] });
    await call('memory.search_nodes', { query: 'Ada' });
    return seen;
  } finally {
    await registry.close();
    await imported.close();
    await rm(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${(await playImport(memoryServer())).join('\n')}\n`);
