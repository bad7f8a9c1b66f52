/** What peers do at each model step: the AI SDK and MCP convert every schema again. */
import { compare } from '../harness.ts';
import { listed, listingSetup, ourList } from '../listing.ts';
import type { FamilyResult, Row } from '../targets.ts';
import { load } from './load.ts';
import { connectMcp } from './mcp-connection.ts';
import { versionOf } from './version.ts';

interface AiModule {
  asSchema(schema: unknown): { readonly jsonSchema: unknown };
  tool(options: object): { readonly description: string; readonly inputSchema: unknown };
}

export async function measure(): Promise<FamilyResult> {
  const { session, schemas } = listingSetup();
  const rows: Row[] = [];
  const skipped: string[] = [];
  const add = async (
    id: 'list_ai_sdk' | 'list_mcp',
    name: string,
    step: () => Promise<unknown>,
  ): Promise<void> => {
    const [, other] = await compare(
      [
        ourList(session),
        {
          name,
          run: async (times) => {
            for (let index = 0; index < times; index++) await step();
          },
        },
      ],
      { rounds: 5 },
    );
    rows.push({
      id,
      value: other?.ratio ?? Number.NaN,
      note: `${await versionOf(name)}: ${((other?.ns ?? 0) / 1e6).toFixed(1)} ms`,
    });
  };

  const ai = await load<AiModule>('ai');
  if (ai === undefined) skipped.push('ai');
  else {
    const tools = schemas.map((inputSchema) => ai.tool({ description: 'A tool.', inputSchema }));
    // What its loop does with each tool before each request to a model.
    await add('list_ai_sdk', 'ai', async () =>
      Promise.all(
        tools.map(async (tool, index) => ({
          type: 'function',
          name: `tool_${index}`,
          description: tool.description,
          inputSchema: await ai.asSchema(tool.inputSchema).jsonSchema,
        })),
      ),
    );
  }

  const connection = await connectMcp(listed);
  if (connection === undefined)
    skipped.push('@modelcontextprotocol/server, @modelcontextprotocol/client');
  else {
    await add(
      'list_mcp',
      '@modelcontextprotocol/server',
      async () => (await connection.client.listTools()).tools.length,
    );
    await connection.close();
  }
  return {
    rows,
    ...(skipped.length === 0
      ? {}
      : { skipped: `${skipped.join(', ')}: not installed (\`npm ci --prefix bench\`)` }),
  };
}
