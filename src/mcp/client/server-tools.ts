/** Reading a server's tools: each listing is made into definitions and offered to the ledger. */
import { type AnyTool, MisuseError } from '../../index.ts';
import type { SharedPatterns } from '../../schema/pattern-budget.ts';
import { connectionFault } from '../../surfaces/shared/executor-fault.ts';
import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { createPause } from '../../surfaces/shared/stretches.ts';
import { nameSkeleton } from '../../text/names.ts';
import { executorOf } from './call.ts';
import type { Connection } from './connection.ts';
import { defineServerTool, reportedName } from './definition.ts';
import { listTools } from './listing.ts';
import type { Ledger } from './pins.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** A tool that could not be made into a definition. */
export interface McpImportFailure {
  /** What the server calls it, cleaned and shortened. */
  readonly name: string;
  /** What is wrong with it. */
  readonly reason: string;
}

/** What is known of one server's tools. */
export interface ServerTools {
  /** Put before each of the server's names. */
  readonly prefix: string;
  /** Milliseconds a call may run; undefined for the registry's default. */
  readonly timeoutMs: number | undefined;
  /** Milliseconds for a listing. */
  readonly listingMs: number;
  readonly ledger: Ledger;
  /** `mcp:` and the server's name; undefined until the first greeting if the host gave no name. */
  source: string | undefined;
  failed: readonly McpImportFailure[];
  /** Counts the readings: one is void as soon as another begins, or the import is closed. */
  readings: number;
}

/**
 * Most instructions of the patterns of a listing. Compiling them takes a second or two at worst,
 * during which other work of the process goes on.
 */
const maxPatternSize = 1_000_000;

/**
 * Reads the server's tools and offers them to the ledger. Rejects, and changes nothing, if the
 * listing is refused or the reading became void meanwhile.
 */
export async function readTools(
  tools: ServerTools,
  client: ConnectedMcpClient,
  connection: Connection,
): Promise<void> {
  tools.source ??= `mcp:${cleanLine(client.getServerVersion()?.name, 64) || 'unnamed'}`;
  const { source } = tools;
  const failed: McpImportFailure[] = [];
  // By what a name looks like.
  const found = new Map<string, AnyTool<unknown>>();
  const patterns: SharedPatterns = { left: maxPatternSize };
  const reading = ++tools.readings;
  const mustBeCurrent = (): void => {
    if (reading !== tools.readings)
      throw connectionFault('The connection to the MCP server was lost while its tools were read.');
  };
  const listed = await listTools(client, tools.listingMs);
  mustBeCurrent();
  const pause = createPause();
  for (const raw of listed) {
    await pause();
    mustBeCurrent();
    try {
      const definition = defineTool(raw, tools, source, patterns, connection);
      const skeleton = nameSkeleton(definition.name);
      const twin = found.get(skeleton)?.name;
      if (twin !== undefined)
        throw new MisuseError(
          'name_conflict',
          `Its name can be mistaken for \`${twin}\`, which the server listed first.`,
        );
      found.set(skeleton, definition);
    } catch (error) {
      failed.push({
        name: reportedName(raw),
        reason: cleanLine(error instanceof Error ? error.message : String(error), 1_000),
      });
    }
  }
  tools.failed = Object.freeze(failed);
  tools.ledger.offer([...found.values()]);
}

function defineTool(
  raw: unknown,
  { prefix, timeoutMs, ledger }: ServerTools,
  source: string,
  patterns: SharedPatterns,
  connection: Connection,
): AnyTool<unknown> {
  let origin: ReturnType<Ledger['originOf']> | undefined;
  const definition = defineServerTool(raw, {
    prefix,
    timeoutMs,
    source,
    patterns,
    executorOf: (tool) => executorOf(tool, connection, () => origin?.withdrawn()),
    originOf: (name) => {
      origin = ledger.originOf(name, source);
      return origin;
    },
  }) as AnyTool<unknown>;
  if (origin !== undefined) origin.fingerprint = definition.fingerprint;
  return definition;
}
