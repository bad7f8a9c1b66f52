/**
 * `importMcpTools`: another server's tools as definitions, checked like any other tool and pinned
 * by fingerprint.
 */

import { type CredentialNeeds, MisuseError } from '../../../core.ts';
import { describe } from '../../../values/errors/index.ts';
import { webAddress } from '../../../values/http/web-address.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import {
  anything,
  arrayOf,
  duration,
  flag,
  kind,
  object,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
} from '../../../values/options/index.ts';
import { type GivenPins, oneCredential, readPins } from '../../shared/import-options.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import { authorizerOf } from './auth.ts';
import type { McpAuth } from './auth-options.ts';
import { type Connection, type ConnectionClock, createConnection } from './connection.ts';
import { type ImportedMcpTools, importedTools } from './imported-tools.ts';
import { adoptClient, type Link, type OpenOptions } from './link.ts';
import type { Authorizer } from './login.ts';
import { type McpHttpConnection, openHttp } from './open-http.ts';
import { type McpStdioConnection, stdioOpener } from './open-stdio.ts';
import { needsOf } from './people.ts';
import type { ConnectedMcpClient } from './sdk.ts';
import type { ImportWishes } from './server-tools.ts';
import { createRelisting, type Later } from './storms.ts';

/**
 * How to reach a server: a command to start, an endpoint, or a connected client of
 * `@modelcontextprotocol/client` 2, which the host closes itself.
 */
export type McpConnection = McpStdioConnection | McpHttpConnection | ConnectedMcpClient;

/** Options of {@link importMcpTools}. */
export interface ImportMcpOptions {
  /** Prepended to each of the server's names. @default "" */
  readonly prefix?: string | undefined;
  /**
   * The host's own name for the server. The source of its tools is `mcp:` followed by this name.
   * @default what the server calls itself, unverified
   */
  readonly name?: string | undefined;
  /**
   * Accepted definitions by name, prefix included: fingerprints, or what `host-tools mcp pin`
   * wrote. A tool that differs or is not named here is left out of `tools` and reported in `drift`.
   * @default the first listing is accepted as it is; what changes or is added later is drift
   */
  readonly pins?: GivenPins | undefined;
  /**
   * Milliseconds a call may run. Above 0, at most 2^31-1. @default the registry's
   * `defaultTimeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether the host shows MCP Apps. The server is told so, since some list the tools of their apps
   * only then. @default false
   */
  readonly apps?: boolean | undefined;
  /**
   * The credential of the principal, by its name: one. Calls go over connections of their own, one
   * for each token, with the token as `Authorization`; the import's own connection, which lists the
   * tools, has `headers` or `auth`. The registry's `credentials` gives the token. Only for servers
   * at a `url`. @default calls go over the import's own connection
   */
  readonly credentials?: CredentialNeeds | undefined;
}

/** Time and randomness, replaced in tests. */
export interface ImportPorts {
  readonly clock: ConnectionClock;
  /** Milliseconds for a handshake, and for a listing. */
  readonly handshakeMs: number;
  readonly later: Later;
}

const where = 'importMcpTools';

const ports: ImportPorts = {
  clock: { now: () => performance.now(), random: Math.random },
  handshakeMs: 30_000,
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    // A listing that is due must not keep the process alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Connects to an MCP server and makes definitions of its tools. The server is not trusted: its
 * schemas are checked as schemas from outside, its texts are cleaned and shortened, its hints can
 * only make checks stricter, and a definition that changes is withdrawn until it is accepted.
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

/** An import, and the connection behind it. */
export interface Imported {
  readonly imported: ImportedMcpTools;
  readonly connection: Connection;
}

/**
 * {@link importMcpTools} with settings for the server's tools, and with milliseconds for a
 * handshake and for a listing.
 */
export function importByWishes(
  connection: McpConnection,
  options: ImportMcpOptions,
  wishes: ImportWishes,
  handshakeMs: number,
): Promise<Imported> {
  return importConnected(connection, options, { ...ports, handshakeMs }, wishes);
}

const noWishes: ImportWishes = Object.freeze({});

/** {@link importMcpTools} with the given time and randomness. */
export async function importThrough(
  given: McpConnection,
  options: ImportMcpOptions | undefined,
  through: ImportPorts,
  wishes: ImportWishes = noWishes,
): Promise<ImportedMcpTools> {
  return (await importConnected(given, options, through, wishes)).imported;
}

/** Longer than 60 lines, since what it makes refers to each other. */
async function importConnected(
  given: McpConnection,
  options: ImportMcpOptions | undefined,
  { clock, handshakeMs, later }: ImportPorts,
  wishes: ImportWishes,
): Promise<Imported> {
  const { prefix, timeoutMs, name, pins, apps, credentials } = readOptions(
    where,
    options,
    importTable,
  );
  const accepted = readPins(where, pins);
  // Hosts that only serve tools do not load what checks schemas from outside.
  const { createServerTools, readTools } = await import('./server-tools.ts');
  const needs = needsOf(given, credentials, { clock, handshakeMs, later });
  const tools = createServerTools(accepted, {
    prefix,
    timeoutMs,
    listingMs: handshakeMs,
    needs,
    wishes,
    source: name === undefined ? undefined : `mcp:${name}`,
  });
  const connection: Connection = createConnection({
    open: openerOf(given, {
      handshakeMs,
      toolsChanged: () => relisting.changed(),
      othersChanged: wishes.onOthersChanged,
      questions: wishes.questions,
      apps,
      auth: wishes.auth,
      told: wishes.told,
    }),
    greet: (client) => readTools(tools, client, connection),
    clock,
    reopen: !isClient(given),
    ...(wishes.onLost === undefined ? {} : { onLost: wishes.onLost }),
  });
  const relisting = createRelisting({
    list: () => connection.run(({ client }) => readTools(tools, client, connection)),
    clock,
    later,
  });
  const close = async (): Promise<void> => {
    tools.readings++;
    relisting.close();
    await Promise.all([connection.close(), needs?.people.close()]);
    tools.ledger.close();
  };
  const stop = (): void => void connection.close();
  try {
    if (wishes.signal?.aborted === true) stop();
    wishes.signal?.addEventListener('abort', stop, { once: true });
    await connection.link();
  } catch (error) {
    await close();
    throw error;
  } finally {
    wishes.signal?.removeEventListener('abort', stop);
  }
  return { imported: importedTools(tools, relisting, close), connection };
}

function isClient(connection: McpConnection): connection is ConnectedMcpClient {
  return typeof (connection as { request?: unknown }).request === 'function';
}

function openerOf(
  connection: McpConnection,
  options: Omit<OpenOptions, 'signal'>,
): (signal: AbortSignal) => Promise<Link> {
  const optionsFor = (signal: AbortSignal): OpenOptions => ({ ...options, signal });
  if (typeof connection !== 'object' || connection === null) throw wrongConnection(connection);
  if (isClient(connection)) {
    if (typeof (connection as { getProtocolEra?: unknown }).getProtocolEra !== 'function')
      throw new MisuseError(
        'invalid_option',
        'importMcpTools: expected a client of `@modelcontextprotocol/client` 2, got one of an ' +
          'older SDK. Pass `{ command }` or `{ url }` instead, or connect with the newer ' +
          'client, which works with older servers too.',
      );
    return async (signal) => adoptClient(connection, optionsFor(signal));
  }
  const isCommand = Object.hasOwn(connection, 'command');
  // With both or neither, the intended one is unclear.
  if (isCommand === Object.hasOwn(connection, 'url')) throw wrongConnection(connection);
  if (isCommand) {
    const { command, args, env, cwd } = readOptions(where, connection, commandTable, member);
    const open = stdioOpener({ command, args, env, cwd });
    return (signal) => open(optionsFor(signal));
  }
  const { url, headers, auth } = readOptions(where, connection, addressTable, member);
  // `fetch` refuses them as well, but quotes them in its error.
  if (new URL(url).username !== '' || new URL(url).password !== '')
    throw new MisuseError(
      'invalid_option',
      'importMcpTools: expected `url` without a user and a password. Pass them in a header ' +
        'instead.',
    );
  if (auth === undefined) return (signal) => openHttp({ url, headers }, optionsFor(signal));
  if (new Headers(headers).has('authorization'))
    throw new MisuseError(
      'invalid_option',
      'importMcpTools: expected `auth` or a header `Authorization`, got both. `auth` sets it.',
    );
  let authorizer: Promise<Authorizer> | undefined;
  const authorize = authorizerOf(auth, new URL(url), options.told);
  return async (signal) => {
    authorizer ??= authorize();
    return openHttp({ url, headers }, optionsFor(signal), await authorizer);
  };
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
  url: required(kind<string | URL>('an http(s) address', (url) => webAddress(url) !== undefined)),
  headers: withDefault(anything<Readonly<Record<string, string>>>(), noTexts),
  auth: anything<McpAuth>(),
} satisfies TableOf<McpHttpConnection>;

function wrongConnection(connection: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    'importMcpTools: expected a connection { command, args?, env?, cwd? }, ' +
      '{ url, headers?, auth? } with an http(s) address, or a connected client, got ' +
      `${describe(connection)}.`,
  );
}

const importTable = {
  prefix: withDefault(text(), ''),
  timeoutMs: duration,
  apps: flag,
  credentials: oneCredential,
  name: kind<string>(
    'a line of visible text',
    (value) => typeof value === 'string' && value.trim() !== '' && cleanLine(value, 256) === value,
  ),
  pins: object<GivenPins>(),
} satisfies TableOf<ImportMcpOptions>;
