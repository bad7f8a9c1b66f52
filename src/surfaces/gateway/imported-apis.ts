/** The HTTP APIs of a gateway: the operations of their documents, as tools in the registry. */
import { dirname, resolve } from 'node:path';
import type { HostToolRegistry } from '../../core.ts';
import { messageOf } from '../../values/errors/index.ts';
import { webAddress } from '../../values/http/web-address.ts';
import { canonicalJson } from '../../values/json/index.ts';
import { type Environment, fillVariables } from '../../values/text/fill-variables.ts';
import { type ApiEntry, type OpenApiEntry, prefixOfApi } from '../config/openapi-format.ts';
import { timeoutMsOf } from '../config/value-formats.ts';
import type { ImportedOpenApi, ImportOpenApiOptions } from '../openapi/index.ts';
import type { GatewayPorts } from './ports.ts';
import { missingText } from './server-connection.ts';
import type { NamingServer } from './server-names.ts';
import type { ServerStatus } from './server-status.ts';
import { labelsOf } from './server-wishes.ts';

/** One API: its name, its first attempt and its state. */
export interface GatewayApi extends NamingServer {
  /** Settles when the first attempt has ended. Never rejects. */
  readonly first: Promise<void>;
  status(): ServerStatus;
}

/** The APIs of a registry's files. */
export interface ApiKeeper {
  readonly all: readonly GatewayApi[];
  /** Why a file's section cannot be used; undefined if it can. */
  problem(file: string, entries: OpenApiEntry, again: boolean): string | undefined;
  /** Replaces the APIs that a file had before. */
  take(file: string, entries: OpenApiEntry | undefined): void;
  /** Removes all tools at once. */
  close(): void;
}

/** What a keeper needs. */
export interface ApiParts {
  readonly registry: HostToolRegistry<never>;
  readonly ports: GatewayPorts;
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** Most operations that are named because they cannot be taken. */
const maxNamed = 10;

interface Running extends GatewayApi {
  readonly file: string;
  readonly identity: string;
  close(): void;
}

export function keepApis(parts: ApiParts): ApiKeeper {
  const running = new Map<string, Running>();
  return {
    get all() {
      return [...running.values()];
    },
    problem(file, entries, again) {
      for (const [name, entry] of Object.entries(entries)) {
        const known = running.get(name);
        if (known !== undefined && known.file !== file)
          return `the file \`${known.file}\` already has an API \`${name}\``;
        if (!again || known?.identity === canonicalJson(entry)) continue;
        const { missing } = filled(entry, parts.ports.env);
        if (missing.length > 0) return `\`${name}\`: ${missingText(missing)}`;
      }
      return undefined;
    },
    take(file, entries = {}) {
      const now = new Map(Object.entries(entries));
      for (const [name, one] of running) {
        const entry = now.get(name);
        if (one.file !== file || (entry && canonicalJson(entry) === one.identity)) continue;
        running.delete(name);
        one.close();
      }
      for (const [name, entry] of now)
        if (!running.has(name)) running.set(name, startApi(parts, name, file, entry));
    },
    close() {
      for (const one of running.values()) one.close();
    },
  };
}

interface State extends ApiParts {
  readonly name: string;
  readonly file: string;
  readonly entry: ApiEntry;
  state: ServerStatus['state'];
  error: string | undefined;
  imported: ImportedOpenApi | undefined;
  failures: number;
  cancel: (() => void) | undefined;
  closed: boolean;
  /** Ends an import in progress. */
  readonly stop: AbortController;
}

function startApi(parts: ApiParts, name: string, file: string, entry: ApiEntry): Running {
  const state: State = {
    ...parts,
    name,
    file,
    entry,
    state: 'starting',
    error: undefined,
    imported: undefined,
    failures: 0,
    cancel: undefined,
    closed: false,
    stop: new AbortController(),
  };
  const { missing, used, ...values } = filled(entry, parts.ports.env);
  for (const secret of used) parts.ports.keepSecret(secret);
  const prefix = prefixOfApi(name, entry);
  return {
    name,
    prefix,
    release: () => {},
    file,
    identity: canonicalJson(entry),
    first: missing.length > 0 ? turnOff(state, missingText(missing)) : attempt(state, values),
    status: () => statusOf(state, prefix),
    close() {
      state.closed = true;
      state.stop.abort();
      state.cancel?.();
      void state.imported?.close();
    },
  };
}

/** What is sent with every request. */
type Sent = Pick<ImportOpenApiOptions, 'headers' | 'query'>;

function filled(entry: ApiEntry, env: Environment) {
  const headers = fillVariables(entry.headers ?? {}, env);
  const query = fillVariables(entry.query ?? {}, env);
  return {
    headers: headers.values,
    query: query.values,
    missing: [...new Set([...headers.missing, ...query.missing])],
    used: [...headers.used, ...query.used],
  };
}

async function attempt(state: State, sent: Sent): Promise<void> {
  const { name, file, entry, registry, ports } = state;
  const { server, operations, labels = {} } = entry;
  const isAddress = webAddress(entry.document) !== undefined;
  const document = isAddress ? entry.document : resolve(dirname(file), entry.document);
  state.cancel = undefined;
  try {
    const { importOpenApi } = await import('../openapi/index.ts');
    const imported = await importOpenApi(document, {
      registry: registry as unknown as HostToolRegistry,
      name,
      prefix: prefixOfApi(name, entry),
      server,
      ...sent,
      operations,
      timeoutMs: timeoutMsOf(entry),
      signal: state.stop.signal,
      labels: Object.fromEntries(
        Object.entries(labels).map(([glob, given]) => [glob, labelsOf(given)]),
      ),
    });
    if (state.closed) return await imported.close();
    Object.assign(state, { imported, state: 'ready', error: undefined });
    for (const fault of faultsOf(imported)) ports.note(`warning: API \`${name}\`: ${fault}`);
  } catch (error) {
    if (state.closed) return;
    const isLost = (error as { code?: unknown } | null)?.code === 'executor_lost';
    if (!isLost) return turnOff(state, messageOf(error));
    again(state, sent, ports.scrub(messageOf(error)));
  }
}

/** An address that does not answer is tried again, after growing pauses. */
function again(state: State, sent: Sent, error: string): void {
  const { ports, name } = state;
  if (state.error !== error) ports.note(`warning: API \`${name}\`: ${error}`);
  Object.assign(state, { state: 'waiting', error });
  const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(state.failures++, 16));
  state.cancel = ports.later(() => void attempt(state, sent), pause * (0.5 + ports.random() / 2));
}

async function turnOff(state: State, error: string): Promise<void> {
  state.state = 'off';
  state.error = state.ports.scrub(error);
  state.ports.note(`warning: the tools of the API \`${state.name}\` are missing: ${state.error}`);
}

function faultsOf({ failed, warnings }: ImportedOpenApi): readonly string[] {
  const shown = failed.slice(0, maxNamed);
  const lines = shown.map(({ name, reason }) => `\`${name}\` is left out: ${reason}`);
  if (failed.length > maxNamed)
    lines.push(`${failed.length - maxNamed} more are left out. \`host-tools list\` names them`);
  const ofEntry = ['/operations', '/labels', '/security'];
  for (const { name, path, message } of warnings.filter((one) => ofEntry.includes(one.path)))
    lines.push(`\`${path.slice(1)}\`: \`${name}\`: ${message}`);
  return lines;
}

function statusOf({ name, state, error, imported, ports }: State, prefix: string): ServerStatus {
  return {
    name,
    prefix,
    state,
    ...(error === undefined ? {} : { error }),
    tools: imported?.tools.length ?? 0,
    drift: [],
    failed: (imported?.failed ?? []).map((one) => ({ ...one, reason: ports.scrub(one.reason) })),
    ...(imported === undefined || imported.warnings.length === 0
      ? {}
      : { warnings: imported.warnings }),
  };
}
