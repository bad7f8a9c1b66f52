/**
 * `importMcpTools`: another server's tools as definitions of ours, behind every gate, pinned by
 * fingerprint.
 */

import { describe } from '../../errors.ts';
import { type AnyTool, MisuseError } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import {
  anything,
  arrayOf,
  duration,
  kind,
  object,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
  wrongOption,
} from '../../options.ts';
import type { SharedPatterns } from '../../schema/pattern-budget.ts';
import { connectionFault } from '../../surfaces/shared/executor-fault.ts';
import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { createPause } from '../../surfaces/shared/stretches.ts';
import { nameSkeleton } from '../../text/names.ts';
import { executorOf } from './call.ts';
import { type ConnectionClock, createConnection } from './connection.ts';
import { defineServerTool, reportedName } from './definition.ts';
import { listTools } from './listing.ts';
import {
  adoptClient,
  type Link,
  type McpHttpConnection,
  type McpStdioConnection,
  type OpenOptions,
  openHttp,
  openStdio,
} from './open.ts';
import { createLedger, type McpDrift, type McpPin } from './pins.ts';
import { createRelisting, type Later } from './relisting.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/**
 * Where a server is: a command to start, an endpoint, or a client of `@modelcontextprotocol/client`
 * 2 that the host has connected and will close.
 */
export type McpConnection = McpStdioConnection | McpHttpConnection | ConnectedMcpClient;

/** How {@link importMcpTools} goes about it. */
export interface ImportMcpOptions {
  /** Put before each of the server's names. @default "" */
  readonly prefix?: string | undefined;
  /**
   * The host's own name for the server; its tools' source is `mcp:` and this. @default what the
   * server calls itself, which nobody has checked
   */
  readonly name?: string | undefined;
  /**
   * Accepted definitions by name, prefix included: fingerprints, or what `host-tools mcp pin`
   * wrote. A tool that differs, or that is not named, is left out and in `drift`.
   * @default the first listing is accepted as it is; what changes or comes later is drift
   */
  readonly pins?: Readonly<Record<string, string | McpPin>> | undefined;
  /**
   * Milliseconds a call may run. Above 0, at most 2^31-1. @default the registry's
   * `defaultTimeoutMs`
   */
  readonly timeoutMs?: number | undefined;
}

/** A tool that could not be made a definition. */
export interface McpImportFailure {
  /** What the server calls it, cleaned and cut. */
  readonly name: string;
  /** What is wrong with it. */
  readonly reason: string;
}

/** What {@link importMcpTools} gives. Its members follow the server. */
export interface ImportedMcpTools {
  /** What rules, approvals and events know its tools by: `mcp:` and the server's name. */
  readonly source: string;
  /**
   * The definitions that stand, in the server's order, for `registry.registerAll`. Registries that
   * hold one follow it.
   */
  readonly tools: readonly AnyTool<unknown>[];
  /** Fingerprints of what is accepted, by name; give them as `pins` the next time. */
  readonly pins: Readonly<Record<string, string>>;
  /** What differs from what is accepted. None of it can be called. */
  readonly drift: readonly McpDrift[];
  /** What cannot be had at all. */
  readonly failed: readonly McpImportFailure[];
  /**
   * What the server gives under a name now, for people to look at; undefined when it gives none.
   */
  found(name: string): AnyTool<unknown> | undefined;
  /**
   * Accepts a tool as the server gives it now; registries that hold the old definition get the new
   * one. Where it gives the tool no more, its pin is dropped.
   * @param found the fingerprint that was looked at: another one is refused
   * @throws MisuseError `unknown_tool`, or `invalid_option` for a definition that changed again
   */
  accept(name: string, found?: string): void;
  /**
   * Lists the server's tools again. It happens by itself when the server says that they changed,
   * after a growing pause where it says so again and again, and after each new connection. Rejects
   * when the server cannot be reached or its listing is refused; then all stays as it was.
   */
  refresh(): Promise<void>;
  /**
   * Ends the connection, a child process of it, and everything else; calls end as `executor_lost`.
   * A client of the host stays open. Idempotent.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What tests replace. */
export interface ImportPorts {
  readonly clock: ConnectionClock;
  /** Milliseconds for a handshake, and for a listing. */
  readonly handshakeMs: number;
  readonly later: Later;
}

const where = 'importMcpTools';

/**
 * Most instructions of the patterns of a listing: compiling them is what takes long, a second or
 * two at worst, in stretches.
 */
const maxPatternSize = 1_000_000;

const ports: ImportPorts = {
  clock: { now: () => performance.now(), random: Math.random },
  handshakeMs: 30_000,
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    // A listing that is due keeps no process alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Connects to an MCP server and makes definitions of its tools. What the server says is not
 * believed: schemas pass the gate for schemas from outside, texts are cleaned and bounded, hints
 * can only make gates stricter, and a definition that changes is withdrawn until it is accepted.
 * @throws (rejects with) MisuseError `invalid_option`, `missing_dependency`; an error with the code
 * `executor_lost` when the server cannot be reached or its listing is refused
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { importMcpTools } from 'host-tools/mcp';
 *
 * const { tools, close } = await importMcpTools(
 *   { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/docs'] },
 *   { name: 'docs', prefix: 'docs.' },
 * );
 * const registry = new HostToolRegistry({
 *   rules: [{ effect: 'ask', source: 'mcp:*', tools: 'docs.write_*' }],
 * });
 * registry.registerAll(tools);
 * // later: await close();
 * ```
 */
export async function importMcpTools(
  connection: McpConnection,
  options?: ImportMcpOptions,
): Promise<ImportedMcpTools> {
  return importThrough(connection, options, ports);
}

/** {@link importMcpTools} with its time and chance. */
export async function importThrough(
  connection: McpConnection,
  options: ImportMcpOptions | undefined,
  { clock, handshakeMs, later }: ImportPorts,
): Promise<ImportedMcpTools> {
  const { prefix, timeoutMs, name, pins } = readOptions(where, options, importTable);
  const ledger = createLedger(readPins(pins));
  let failed: readonly McpImportFailure[] = [];
  let greeting = 0;
  let source = name === undefined ? undefined : `mcp:${name}`;

  const greet = async (client: ConnectedMcpClient): Promise<void> => {
    source ??= `mcp:${cleanLine(client.getServerVersion()?.name, 64) || 'unnamed'}`;
    const from = source;
    const faults: McpImportFailure[] = [];
    const found = new Map<string, AnyTool<unknown>>();
    const patterns: SharedPatterns = { left: maxPatternSize };
    const turn = ++greeting;
    const stillCounts = (): void => {
      // The import was closed meanwhile, or a new connection was greeted.
      if (turn !== greeting)
        throw connectionFault(
          'The connection to the MCP server was lost while its tools were read.',
        );
    };
    const listed = await listTools(client, handshakeMs);
    stillCounts();
    const pause = createPause();
    for (const raw of listed) {
      await pause();
      stillCounts();
      try {
        let origin: ReturnType<typeof ledger.originOf> | undefined;
        const definition = defineServerTool(raw, {
          prefix,
          timeoutMs,
          source: from,
          patterns,
          executorOf: (tool) => executorOf(tool, link, () => origin?.withdrawn()),
          originOf: (own) => {
            origin = ledger.originOf(own, from);
            return origin;
          },
        }) as AnyTool<unknown>;
        if (origin !== undefined) origin.fingerprint = definition.fingerprint;
        const skeleton = nameSkeleton(definition.name);
        const twin = found.get(skeleton)?.name;
        if (twin !== undefined)
          throw new MisuseError(
            'name_conflict',
            `Its name could be taken for \`${twin}\`, which came before it.`,
          );
        found.set(skeleton, definition);
      } catch (error) {
        faults.push({
          name: reportedName(raw),
          reason: cleanLine(error instanceof Error ? error.message : String(error), 1_000),
        });
      }
    }
    failed = Object.freeze(faults);
    ledger.offer([...found.values()]);
  };
  const link = createConnection({
    open: openerOf(connection, handshakeMs, () => listing.changed()),
    greet,
    clock,
    reopen: !isClient(connection),
  });
  const listing = createRelisting({
    list: async () => greet((await link.link()).client),
    clock,
    later,
  });
  const close = async (): Promise<void> => {
    greeting++;
    listing.close();
    await link.close();
    ledger.close();
  };
  try {
    await link.link();
  } catch (error) {
    await close();
    throw error;
  }
  return Object.freeze({
    get source() {
      return source as string;
    },
    get tools() {
      return ledger.tools;
    },
    get pins() {
      return ledger.pins;
    },
    get drift() {
      return ledger.drift;
    },
    get failed() {
      return failed;
    },
    found: ledger.found,
    accept: (tool: string, found?: string) => ledger.accept(tool, found),
    refresh: listing.refresh,
    close,
    [Symbol.asyncDispose]: close,
  });
}

function isClient(connection: McpConnection): connection is ConnectedMcpClient {
  return typeof (connection as { request?: unknown }).request === 'function';
}

function openerOf(
  connection: McpConnection,
  handshakeMs: number,
  toolsChanged: () => void,
): (signal: AbortSignal) => Promise<Link> {
  const optionsFor = (signal: AbortSignal): OpenOptions => ({ handshakeMs, signal, toolsChanged });
  if (typeof connection !== 'object' || connection === null) throw wrongConnection(connection);
  if (isClient(connection)) {
    if (typeof (connection as { getProtocolEra?: unknown }).getProtocolEra !== 'function')
      throw new MisuseError(
        'invalid_option',
        'importMcpTools: expected a client of `@modelcontextprotocol/client` 2, got one of an ' +
          'older SDK. Give `{ command }` or `{ url }` instead, or connect with the newer ' +
          'client: it speaks to older servers too.',
      );
    return async (signal) => adoptClient(connection, optionsFor(signal));
  }
  const isCommand = Object.hasOwn(connection, 'command');
  // Which of the two is meant cannot be told.
  if (isCommand === Object.hasOwn(connection, 'url')) throw wrongConnection(connection);
  if (isCommand) {
    const { command, args, env, cwd } = readOptions(where, connection, commandTable, member);
    return (signal) => openStdio({ command, args, env, cwd }, optionsFor(signal));
  }
  const { url, headers } = readOptions(where, connection, addressTable, member);
  // `fetch` refuses them too, and quotes them.
  if (new URL(url).username !== '' || new URL(url).password !== '')
    throw new MisuseError(
      'invalid_option',
      'importMcpTools: expected `url` without a user and a password; give them as a header.',
    );
  return (signal) => openHttp({ url, headers }, optionsFor(signal));
}

const member = { noun: 'member' };
const noTexts: Readonly<Record<string, string>> = Object.freeze({});
const commandTable = {
  command: required(text(1)),
  args: withDefault(arrayOf(text(), 'strings'), Object.freeze([])),
  env: withDefault(
    kind<Readonly<Record<string, string>>>(
      'an object of strings',
      (value) =>
        isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'),
    ),
    noTexts,
  ),
  cwd: text(),
} satisfies TableOf<McpStdioConnection>;
const addressTable = {
  url: required(
    kind<string | URL>(
      'an http(s) address',
      (url) => URL.canParse(String(url)) && /^https?:$/.test(new URL(String(url)).protocol),
    ),
  ),
  headers: withDefault(anything<Readonly<Record<string, string>>>(), noTexts),
} satisfies TableOf<McpHttpConnection>;

function wrongConnection(connection: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    'importMcpTools: expected a connection { command, args?, env?, cwd? }, { url, headers? } ' +
      `with an http(s) address, or a connected client, got ${describe(connection)}.`,
  );
}

const importTable = {
  prefix: withDefault(text(), ''),
  timeoutMs: duration,
  name: kind<string>(
    'a line of visible text',
    (value) => typeof value === 'string' && value.trim() !== '' && cleanLine(value, 256) === value,
  ),
  pins: object<NonNullable<ImportMcpOptions['pins']>>(),
} satisfies TableOf<ImportMcpOptions>;

function readPins(pins: ImportMcpOptions['pins']): ReadonlyMap<string, string> | undefined {
  if (pins === undefined) return undefined;
  return new Map(
    Object.entries(pins).map(([name, pin]) => {
      // A file of pins may say more about each.
      const fingerprint =
        typeof pin === 'object' && pin !== null && Object.hasOwn(pin, 'fingerprint')
          ? pin.fingerprint
          : pin;
      if (typeof fingerprint !== 'string')
        throw wrongOption(where, `pins["${cleanLine(name, 100)}"]`, 'a fingerprint', pin);
      return [name, fingerprint];
    }),
  );
}
