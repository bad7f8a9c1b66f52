/**
 * One server of a gateway. It is started and kept running, and its tools are kept in the registry.
 */
import { dirname, resolve } from 'node:path';
import type { HostToolRegistry, JsonObject, ToolRegistration } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import type { Connection } from '../mcp/client/connection.ts';
import { importByWishes, type McpConnection } from '../mcp/client/import.ts';
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';
import type { PassedList } from '../mcp/passed-on.ts';
import { entryFaults, listingChanges } from './listing-faults.ts';
import {
  authOf,
  connectionOf,
  keeperOf,
  missingText,
  type NamedServer,
  prefixOf,
} from './server-connection.ts';
import { type NamingServer, releaseName, takeNames } from './server-names.ts';
import { askServer, type OfferedEntry, offersOf } from './server-offers.ts';
import { questionsOf } from './server-questions.ts';
import { type ServerStatus, statusOf } from './server-status.ts';
import { exposes, labelsBy, takesBy } from './server-wishes.ts';

/** A server that was started. */
export interface GatewayServer extends NamingServer {
  /** Whether clients get these lists of the server. */
  exposes(kind: 'prompts' | 'resources'): boolean;
  /**
   * The server's present entries; empty while it is not ready. Rejects with the server's errors.
   * @throws (rejects with) what the server causes
   */
  offers(which: PassedList): Promise<readonly OfferedEntry[]>;
  /**
   * Asks for a prompt or a resource. Rejects with an Error that a client may see.
   * @throws (rejects with) Error that a client may see
   */
  ask(
    method: 'prompts/get' | 'resources/read',
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<JsonObject>;
  /** Settles when the first attempt has ended. Never rejects. */
  readonly first: Promise<void>;
  status(): ServerStatus;
  /** Looks at its names again, since the other servers have changed. */
  recheck(): void;
  /** Removes its tools at once, and ends the server. Never rejects. */
  close(): Promise<void>;
}

/** What a server needs. */
export interface ServerParts extends NamedServer {
  readonly registry: HostToolRegistry<never>;
  /** Called when its prompts or resources may have changed. */
  changed(kind: 'prompts' | 'resources'): void;
  /** Why it may not have a name, because of another server. */
  foreign(tool: string): string | undefined;
  /** Called before it takes a name. */
  claim(tool: string): void;
}

/** The time that a server has for its handshake. `npx` may have to download it first. */
const handshakeMs = 60_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

interface State extends ServerParts {
  state: ServerStatus['state'];
  error: string | undefined;
  imported: ImportedMcpTools | undefined;
  connection: Connection | undefined;
  /** Its tools in the registry, by name. */
  readonly held: Map<string, ToolRegistration>;
  /** Tools whose names the registry cannot accept. */
  conflicts: ServerStatus['failed'];
  /** Tools that only read according to the server, by the server's own names. */
  readers: readonly string[];
  /** The server's own names in its first listing, also of tools that are not taken. */
  readonly listedNames: Set<string>;
  /** Fingerprints of the tools that were listed last, by name. */
  seen: ReadonlyMap<string, string> | undefined;
  /** What was said about the tools that were listed last. */
  told: ReadonlySet<string>;
  /** Successive failures. */
  failures: number;
  cancel: (() => void) | undefined;
  closed: boolean;
  /** Aborts when the server is closed. */
  readonly stop: AbortController;
  /** The present or last attempt. Never rejects. */
  attempting: Promise<void>;
}

/** Starts a server. It is tried again, after growing pauses, until it is closed. */
export function startServer(parts: ServerParts): GatewayServer {
  const state: State = {
    ...parts,
    state: 'starting',
    error: undefined,
    imported: undefined,
    connection: undefined,
    held: new Map(),
    conflicts: [],
    readers: [],
    listedNames: new Set(),
    seen: undefined,
    told: new Set(),
    failures: 0,
    cancel: undefined,
    closed: false,
    stop: new AbortController(),
    attempting: Promise.resolve(),
  };
  const { connection, missing } = connectionOf(parts);
  if (missing.length > 0) turnOff(state, missingText(missing));
  else state.attempting = attempt(state, connection);
  return {
    name: parts.name,
    prefix: prefixOf(parts),
    release: (tool) => releaseName(state, tool),
    recheck: () => recheck(state),
    first: state.attempting,
    exposes: (kind) => exposes(parts.entry, kind),
    async offers(which) {
      const { connection: open } = state;
      return open === undefined ? [] : offersOf(open, which, prefixOf(state));
    },
    async ask(method, params, signal) {
      if (state.connection === undefined || state.closed)
        throw new Error(`The MCP server \`${state.name}\` is not running.`);
      return askServer(state.connection, method, params, signal);
    },
    status: () => statusOf(state),
    close: () => closeServer(state),
  };
}

function logOffers(state: State): void {
  for (const kind of ['prompts', 'resources'] as const)
    if (exposes(state.entry, kind)) state.changed(kind);
}

async function attempt(state: State, connection: McpConnection): Promise<void> {
  const { name, entry, ports, file } = state;
  const questions = questionsOf(state);
  state.cancel = undefined;
  try {
    const pinFile = entry.pins === undefined ? undefined : resolve(dirname(file), entry.pins);
    const pins = pinFile === undefined ? undefined : await ports.readPins(pinFile);
    if (state.closed) return;
    const { imported, connection: open } = await importByWishes(
      connection,
      // A client that shows apps may come at any time.
      { name, prefix: prefixOf(state), apps: true, ...(pins === undefined ? {} : { pins }) },
      {
        takes: exposes(state.entry, 'tools') ? takesListed(state) : () => false,
        labelsOf: labelsBy(entry),
        follows: pinFile === undefined,
        onListed: (readers) => {
          state.readers = readers;
          listed(state);
        },
        ...(exposes(state.entry, 'prompts') || exposes(state.entry, 'resources')
          ? { onOthersChanged: state.changed }
          : {}),
        auth: authOf(state),
        told: keeperOf(ports),
        ...(questions === undefined ? {} : { questions, onCall: questions.began }),
        onLost: () => fail(state, 'The connection to the MCP server was lost.', connection),
        signal: state.stop.signal,
      },
      handshakeMs,
    );
    if (pinFile !== undefined && pins === undefined) await writePins(state, pinFile, imported);
    if (state.closed) return await imported.close();
    state.imported = imported;
    state.connection = open;
    logOffers(state);
    listed(state);
  } catch (error) {
    fail(state, messageOf(error), connection);
  }
}

/** Tools whose pins cannot be written are not taken, since nothing would say what was accepted. */
async function writePins(
  { ports }: State,
  path: string,
  imported: ImportedMcpTools,
): Promise<void> {
  try {
    await ports.writePins(path, imported);
  } catch (error) {
    await imported.close();
    throw error;
  }
}

/** Takes over a listing. Called during the import, so it must not throw. */
function listed(state: State): void {
  const { imported, name, ports } = state;
  if (imported === undefined || state.closed) return;
  state.failures = 0;
  state.state = 'ready';
  state.error = undefined;
  const { seen } = state;
  const unreported = takeNames(state, imported);
  state.seen = new Map(imported.tools.map((tool) => [tool.name, tool.fingerprint]));
  const ofEntry =
    seen === undefined
      ? entryFaults(state.entry, imported, [...state.listedNames], prefixOf(state))
      : [];
  for (const fault of [...unreported, ...ofEntry])
    ports.note(`warning: server \`${name}\`: ${fault}`);
  if (seen !== undefined)
    for (const change of listingChanges(seen, state.seen, imported))
      ports.note(`server \`${name}\`: ${change}`);
  else if (imported.drift.length > 0)
    ports.note(
      `warning: server \`${name}\`: ${imported.drift.length} of its tools differ from what was ` +
        'pinned and are withheld. Review them with `host-tools mcp pin`.',
    );
}

function recheck(state: State): void {
  const { imported, closed, name, ports } = state;
  if (imported === undefined || closed) return;
  for (const fault of takeNames(state, imported))
    ports.note(`warning: server \`${name}\`: ${fault}`);
}

/** Takes what the file says, and notes what the first listing has. */
function takesListed(state: State): ((name: string) => boolean) | undefined {
  const takes = takesBy(state.entry);
  if (takes === undefined) return undefined;
  return (name) => {
    if (state.seen === undefined) state.listedNames.add(name);
    return takes(name);
  };
}

/** Records a failure and schedules the next attempt. */
function fail(state: State, error: string, connection: McpConnection): void {
  if (state.closed || state.cancel !== undefined) return;
  const { ports, name } = state;
  const told = state.error;
  state.state = 'waiting';
  state.error = ports.scrub(error);
  state.failures++;
  // A server that fails again and again for the same reason is reported once.
  if (told !== state.error) ports.note(`warning: server \`${name}\`: ${state.error}`);
  const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(state.failures - 1, 16));
  state.cancel = ports.later(
    () => {
      state.attempting = again(state, connection);
    },
    pause * (0.5 + ports.random() / 2),
  );
}

async function again(state: State, connection: McpConnection): Promise<void> {
  state.cancel = undefined;
  const { imported } = state;
  if (imported === undefined) return attempt(state, connection);
  try {
    await imported.refresh();
  } catch (error) {
    fail(state, messageOf(error), connection);
  }
}

function turnOff(state: State, error: string): void {
  state.state = 'off';
  state.error = error;
  state.ports.note(`warning: server \`${state.name}\` is not started: ${error}`);
}

async function closeServer(state: State): Promise<void> {
  state.closed = true;
  state.connection = undefined;
  logOffers(state);
  state.cancel?.();
  state.stop.abort();
  const { registry, held } = state;
  inspectRegistry(registry).change(() => {
    for (const registration of held.values()) registration.unregister();
  });
  held.clear();
  // An existing import is closed before its attempt is awaited, because that may be a listing.
  await state.imported?.close();
  await state.attempting;
}
