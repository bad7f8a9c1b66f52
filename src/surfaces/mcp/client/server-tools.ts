/** Reading a server's tools: each listing is made into definitions and offered to the ledger. */
import { type AnyTool, MisuseError, type ToolContext } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { SharedPatterns } from '../../../values/json-schema/pattern-budget.ts';
import { createPause } from '../../../values/limits/stretches.ts';
import { nameSkeleton } from '../../../values/text/names.ts';
import { connectionFault } from '../../shared/executor-fault.ts';
import type { UncheckedPart } from '../../shared/foreign-schema.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import { createLedger, type Ledger } from '../../shared/pins.ts';
import { fieldLabels, type ToolLabels } from '../../shared/tool-labels.ts';
import { executorOf } from './call.ts';
import type { Connection } from './connection.ts';
import { defineServerTool, reportedName, visibilityOf } from './definition.ts';
import type { OpenOptions, ServerQuestions } from './link.ts';
import { listTools } from './listing.ts';
import { readPagesOf } from './pages.ts';
import { checkHeaders } from './param-headers.ts';
import type { Needs } from './people.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** A tool that could not be made into a definition. */
export interface McpImportFailure {
  /** What the server calls it, cleaned and shortened. */
  readonly name: string;
  /** What is wrong with it. */
  readonly reason: string;
}

/** A part of a tool's schemas that only the server checks. The tool is imported all the same. */
export interface McpImportWarning {
  /** What the server calls the tool, cleaned and shortened. */
  readonly name: string;
  /** JSON pointer into the server's definition, such as `/inputSchema/properties/guest/pattern`. */
  readonly path: string;
  /** Why it is not checked here. */
  readonly message: string;
}

/** The host's settings and labels for a server's tools, by the server's own names. */
export interface ImportWishes {
  /** Whether a tool is used. @default every tool */
  readonly takes?: ((name: string) => boolean) | undefined;
  /** The host's labels for a tool. @default nothing */
  readonly labelsOf?: ((name: string) => ToolLabels | undefined) | undefined;
  /** Accepts new and changed tools if no pins are given. @default false */
  readonly follows?: boolean | undefined;
  /**
   * Called after each listing, with the server's names of the tools that only read according to the
   * server. @default not called
   */
  readonly onListed?: ((readers: readonly string[]) => void) | undefined;
  /** Called when the server says that its prompts or resources changed. @default not listened to */
  readonly onOthersChanged?: ((kind: 'prompts' | 'resources') => void) | undefined;
  /** Gives the token for requests over HTTP. @default no token */
  readonly auth?: OpenOptions['auth'];
  /** Called with each token that the import gets itself, before it is used. @default not called */
  readonly told?: OpenOptions['told'];
  /**
   * Answers questions of the server.
   * @default it cannot ask anything
   */
  readonly questions?: ServerQuestions | undefined;
  /** Called when a call begins; the returned function when it ends. @default not called */
  readonly onCall?: ((context: ToolContext) => () => void) | undefined;
  /**
   * Called when the connection is lost, but not when it is closed from here. @default not called
   */
  readonly onLost?: (() => void) | undefined;
  /**
   * Ends an import in progress, and everything that it has started.
   * @default never
   */
  readonly signal?: AbortSignal | undefined;
}

/** What is known about one server's tools. */
export interface ServerTools {
  /** Prepended to each of the server's names. */
  readonly prefix: string;
  /** Milliseconds a call may run; undefined for the registry's default. */
  readonly timeoutMs: number | undefined;
  /** Milliseconds for a listing. */
  readonly listingMs: number;
  readonly ledger: Ledger;
  /** What the tools need of the principal, and its connections; undefined for one for all. */
  readonly needs: Needs | undefined;
  /** The host's settings and labels for the server. */
  readonly wishes: ImportWishes;
  /** The server's definition, for each definition to which the host has added labels. */
  readonly plain: WeakMap<AnyTool<unknown>, AnyTool<unknown>>;
  /** `mcp:` and the server's name; undefined until the first greeting if the host gave no name. */
  source: string | undefined;
  failed: readonly McpImportFailure[];
  warnings: readonly McpImportWarning[];
  /** See `ImportedMcpTools.appOnly`. */
  appOnly: readonly string[];
  /**
   * Counts the readings. A reading is void as soon as another one begins, or the import is closed.
   */
  readings: number;
}

/**
 * The tools of a server that has not been asked yet.
 * @param pins accepted fingerprints by name; undefined accepts the first listing
 */
export function createServerTools(
  pins: ReadonlyMap<string, string> | undefined,
  given: Pick<ServerTools, 'prefix' | 'timeoutMs' | 'listingMs' | 'needs' | 'wishes' | 'source'>,
): ServerTools {
  const plain: ServerTools['plain'] = new WeakMap();
  const ledger = createLedger(pins, {
    follows: given.wishes.follows,
    plainOf: (definition) => plain.get(definition) ?? definition,
  });
  return { ...given, plain, ledger, failed: [], warnings: [], appOnly: [], readings: 0 };
}

/**
 * Most instructions of the patterns of a listing. Compiling them takes a second or two at worst,
 * with pauses for other work of the process.
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
  const warnings: McpImportWarning[] = [];
  const appOnly: string[] = [];
  const readers: string[] = [];
  // Keyed by the look of a name.
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
    if (!isTaken(raw, tools.wishes)) continue;
    const visibility = visibilityOf(raw);
    if (!visibility.includes('model')) appOnly.push(reportedName(raw));
    // Nobody may call it.
    if (visibility.length === 0) continue;
    try {
      if (client.getProtocolEra() === 'modern') checkHeaders(raw);
      const unchecked: UncheckedPart[] = [];
      const definition = defineTool(raw, tools, source, patterns, unchecked, connection);
      const skeleton = nameSkeleton(definition.name);
      const twin = found.get(skeleton)?.name;
      if (twin !== undefined)
        throw new MisuseError(
          'name_conflict',
          `Its name can be mistaken for \`${twin}\`, which the server listed first.`,
        );
      found.set(skeleton, definition);
      for (const part of unchecked) warnings.push({ name: reportedName(raw), ...part });
      if (saysItReads(raw)) readers.push(reportedName(raw));
    } catch (error) {
      failed.push({
        name: reportedName(raw),
        reason: cleanLine(error instanceof Error ? error.message : String(error), 1_000),
      });
    }
  }
  tools.failed = Object.freeze(failed);
  tools.warnings = Object.freeze(warnings);
  tools.appOnly = Object.freeze(appOnly);
  tools.ledger.offer([...found.values()]);
  tools.wishes.onListed?.(readers);
}

function isTaken(raw: unknown, { takes }: ImportWishes): boolean {
  const name = ownNameOf(raw);
  return takes === undefined || name === undefined || takes(name);
}

function saysItReads(raw: unknown): boolean {
  const hints = isJsonObject(raw) ? raw.annotations : undefined;
  return isJsonObject(hints) && hints.readOnlyHint === true;
}

function ownNameOf(raw: unknown): string | undefined {
  return isJsonObject(raw) && typeof raw.name === 'string' ? raw.name : undefined;
}

/** Makes the definition with the host's labels, and remembers the one without them. */
function defineTool(
  raw: unknown,
  tools: ServerTools,
  source: string,
  patterns: SharedPatterns,
  unchecked: UncheckedPart[],
  connection: Connection,
): AnyTool<unknown> {
  const { prefix, timeoutMs, ledger, needs, wishes, plain } = tools;
  const make = (labels: ToolLabels | undefined, print?: string): AnyTool<unknown> => {
    let origin: ReturnType<Ledger['originOf']> | undefined;
    const definition = defineServerTool(raw, {
      prefix,
      timeoutMs,
      source,
      labels,
      credentials: needs?.credentials,
      patterns,
      // The definition with labels has the same schemas.
      unchecked: labels === undefined ? unchecked : [],
      executorOf: (tool) =>
        executorOf(tool, connection, needs?.people, () => origin?.withdrawn(), wishes.onCall),
      originOf: (name, said) => {
        readPagesOf(said, connection);
        origin = ledger.originOf(name, source, fieldLabels(labels), said);
        return origin;
      },
    }) as AnyTool<unknown>;
    if (origin !== undefined) origin.fingerprint = print ?? definition.fingerprint;
    return definition;
  };
  const offered = make(undefined);
  const name = ownNameOf(raw);
  const labels = name === undefined ? undefined : wishes.labelsOf?.(name);
  if (labels === undefined) return offered;
  const labelled = make(labels, offered.fingerprint);
  plain.set(labelled, offered);
  return labelled;
}
