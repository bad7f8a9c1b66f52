/**
 * A gateway: the MCP servers, the HTTP APIs, the audit logs and the kept approvals that the files
 * of a registry name. Servers start concurrently, and none delays another.
 */

import type { HostToolRegistry } from '../../core.ts';
import { hideSecrets } from '../../parts/secrets/masking-of.ts';
import { canonicalJson } from '../../values/json/index.ts';
import { redactText, scrubStrings } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';
import type { FileHost, HostedParts } from '../config/file-host.ts';
import { setFileHost } from '../config/loaded-files.ts';
import type { ServerEntry } from '../config/server-format.ts';
import type { McpAuthorization } from '../mcp/index.ts';
import { passOn } from '../mcp/passed-on.ts';
import { type AuthorizationKeeper, keepAuthorization } from './authorization.ts';
import { type GatewayServer, startServer } from './gateway-server.ts';
import { type ApiKeeper, keepApis } from './imported-apis.ts';
import { type ApprovalKeeper, createApprovalKeeper, type KeptApprovals } from './kept-approvals.ts';
import type { KeptStore } from './kept-store.ts';
import { createLogKeeper, type LogKeeper } from './log-keeper.ts';
import { createPassedLists, type PassedLists } from './passed-lists.ts';
import type { GatewayPorts } from './ports.ts';
import { connectionOf, missingText, prefixOf } from './server-connection.ts';
import { claimName, foreignName, type NamingServer } from './server-names.ts';
import type { ServerStatus } from './server-status.ts';

/** What a gateway does with the parts of a file. */
export interface GatewayOptions {
  /** Starts the servers. If false, they are only checked. */
  readonly starts: boolean;
  /** Records calls. If false, the log is not touched, because another process may be writing it. */
  readonly records: boolean;
  /** Keeps suspended calls if a file says where. If false, they end with the process. */
  readonly keeps: boolean;
  /** The working folder of sessions. */
  readonly cwd: string;
  /** The store for what the files do not keep elsewhere. @default none */
  readonly store?: KeptStore | undefined;
}

/** The servers and logs of a registry's files. */
export interface Gateway {
  /** Whether any file names a server or an HTTP API. */
  readonly hasServers: boolean;
  /** How suspended calls are kept; undefined if no file defines it. */
  readonly approvals: KeptApprovals | undefined;
  /** Who may call over HTTP; undefined if no file says so. */
  readonly authorization: McpAuthorization | undefined;
  /** Whether approvals or calls are kept in the store. */
  readonly usesStore: boolean;
  /** Of the servers, then of the HTTP APIs, in the order of the files. */
  statuses(): readonly ServerStatus[];
  /**
   * Waits until each server's first attempt has ended, at most so many milliseconds.
   * Resolves to false if that time is over first.
   * @param withoutMs the same as long as no server is ready. @default mostMs
   */
  settled(maxMs: number, withoutMs?: number): Promise<boolean>;
  /** Ends the servers, then the logs. @throws the errors of logs that cannot be written. */
  close(): Promise<void>;
}

interface Running {
  readonly file: string;
  readonly identity: string;
  readonly server: GatewayServer;
}

interface State {
  readonly registry: HostToolRegistry<never>;
  readonly options: GatewayOptions;
  readonly ports: GatewayPorts;
  readonly servers: Map<string, Running>;
  /** What the files have said about code mode, as JSON. */
  readonly codes: Map<string, string>;
  readonly logs: LogKeeper;
  readonly secrets: Secrets;
  readonly authorization: AuthorizationKeeper;
  readonly approvals: ApprovalKeeper;
  readonly passed: PassedLists;
  readonly apis: ApiKeeper;
  /** The pending shutdowns of servers that an edit has removed. */
  readonly closing: Set<Promise<void>>;
}

/** Shorter values are too likely to occur in other texts. */
const leastSecret = 8;

/** How long an answer to a call of an earlier process waits for servers to start. */
const startedWithinMs = 10_000;

/**
 * Creates a gateway. It takes over the servers and logs of the files that are loaded from now on.
 */
export function createGateway(
  registry: HostToolRegistry<never>,
  options: GatewayOptions,
  given: Omit<GatewayPorts, 'scrub' | 'scrubValue' | 'keepSecret'>,
): Gateway {
  const state = openState(registry, options, given);
  passOn(registry, state.passed);
  const host: FileHost = {
    ready: (path, audit) => state.logs.ready(path, audit),
    problem(path, part, again) {
      switch (part.section) {
        case 'mcpServers':
          return serverProblem(state, path, part.name, part.server, again);
        case 'store':
          return options.store?.problem(path, part.value);
        case 'audit':
          return state.logs.problem(path, part.value);
        case 'authorization':
          return state.authorization.problem(path, part.value, again);
        case 'approvals':
          return state.approvals.problem(path, part.value, again);
        case 'openapi':
          return state.apis.problem(path, part.value, again);
        case 'code':
          return part.value === false ? undefined : state.approvals.codeProblem;
        case 'credentials':
        case 'network':
          return undefined;
      }
    },
    take: (parts) => take(state, parts),
  };
  setFileHost(registry, host);
  return {
    get hasServers() {
      return state.servers.size + state.apis.all.length > 0;
    },
    get approvals() {
      return state.approvals.kept;
    },
    get authorization() {
      return state.authorization.given;
    },
    get usesStore() {
      return state.approvals.usesStore || state.logs.usesStore;
    },
    statuses: () => sourcesOf(state).map((one) => one.status()),
    settled: (maxMs, withoutMs = maxMs) => settled(state, maxMs, withoutMs),
    close: () => closeAll(state),
  };
}

function openState(
  registry: HostToolRegistry<never>,
  options: GatewayOptions,
  given: Parameters<typeof createGateway>[2],
): State {
  const secrets = new Secrets();
  const scrub = (text: string): string => redactText(text, secrets);
  const ports: GatewayPorts = {
    ...given,
    scrub,
    scrubValue: (value) => scrubStrings(value, secrets),
    note: (line) => given.note(scrub(line)),
    keepSecret(value) {
      if (value.length >= leastSecret) addSecret(state, value);
    },
  };
  const closing = new Set<Promise<void>>();
  const state: State = {
    registry,
    options,
    ports,
    servers: new Map(),
    codes: new Map(),
    logs: createLogKeeper({
      registry,
      records: options.records,
      store: options.store,
      ports,
      hold: (work) => hold(closing, work),
    }),
    secrets,
    authorization: keepAuthorization(ports.note),
    approvals: createApprovalKeeper({
      registry: registry as unknown as HostToolRegistry,
      keeps: options.keeps,
      store: options.store,
      cwd: options.cwd,
      note: ports.note,
      settled: () => settled(state, startedWithinMs, startedWithinMs),
    }),
    passed: createPassedLists({
      servers: () => [...state.servers.values()].map(({ server }) => server),
      note: ports.note,
      scrub,
    }),
    apis: keepApis({ registry, ports }),
    closing,
  };
  return state;
}

function serverProblem(
  state: State,
  path: string,
  name: string,
  entry: ServerEntry,
  again: boolean,
): string | undefined {
  const known = state.servers.get(name);
  if (known !== undefined && known.file !== path)
    return `the file \`${known.file}\` already has a server \`${name}\``;
  if (!again || known?.identity === canonicalJson(entry)) return undefined;
  const { missing } = connectionOf({ entry, file: path, ports: state.ports });
  return missing.length === 0 ? undefined : missingText(missing);
}

function hold(closing: Set<Promise<void>>, work: Promise<void>): void {
  closing.add(work);
  void work.finally(() => closing.delete(work));
}

function take(state: State, parts: HostedParts): void {
  const { path, servers, audit, approvals, network } = parts;
  if (network !== undefined)
    state.ports.note(`${path}: \`network\` is for \`host-tools guard\`. It limits nothing here.`);
  takeCode(state, parts);
  state.logs.take(path, audit);
  state.authorization.take(path, parts.authorization);
  state.approvals.take(path, approvals);
  if (!state.options.starts) return;
  for (const [name, running] of state.servers) {
    if (running.file !== path) continue;
    const entry = servers.get(name);
    if (entry !== undefined && canonicalJson(entry) === running.identity) continue;
    state.servers.delete(name);
    hold(state.closing, running.server.close());
  }
  const fresh = [...servers].filter(([name]) => !state.servers.has(name));
  for (const [, entry] of fresh) keepSecret(state, path, entry);
  const { registry, ports } = state;
  const { changed } = state.passed;
  state.apis.take(path, parts.openapi);
  for (const [name, entry] of fresh) {
    const naming: NamingServer = { name, prefix: prefixOf({ name, entry }), release: () => {} };
    const foreign = (tool: string): string | undefined =>
      foreignName(naming, [...all(state), ...state.apis.all], tool);
    const claim = (tool: string): void => claimName(naming, all(state), tool);
    const parts = { name, file: path, entry, registry, ports, changed, foreign, claim };
    state.servers.set(name, {
      file: path,
      identity: canonicalJson(entry),
      server: startServer(parts),
    });
  }
  for (const server of all(state)) server.recheck();
}

/** Notes an edit of code mode: sessions keep what they have opened with. */
function takeCode({ codes, ports }: State, { path, code }: HostedParts): void {
  const now = canonicalJson(code ?? false);
  const before = codes.get(path);
  codes.set(path, now);
  if (before !== undefined && before !== now)
    ports.note(`${path}: the edit of \`code\` holds for clients that connect from now on.`);
}

function all({ servers }: State): readonly GatewayServer[] {
  return [...servers.values()].map(({ server }) => server);
}

/** From now on, no error, event or log shows the values that a server gets from the environment. */
function keepSecret(state: State, file: string, entry: ServerEntry): void {
  const { used } = connectionOf({ entry, file, ports: state.ports });
  const secret = used.filter((value) => value.length >= leastSecret);
  for (const value of secret) addSecret(state, value);
}

function addSecret({ secrets, registry }: State, value: string): void {
  secrets.addText(value);
  hideSecrets(registry, 'A gateway, whose servers get secrets,', secrets);
}

/** Where the tools of others come from. */
function sourcesOf({
  servers,
  apis,
}: State): readonly { readonly first: Promise<void>; status(): ServerStatus }[] {
  return [...[...servers.values()].map(({ server }) => server), ...apis.all];
}

async function settled(state: State, maxMs: number, withoutMs: number): Promise<boolean> {
  const { ports } = state;
  const running = sourcesOf(state);
  const ended = Promise.all(running.map(({ first }) => first));
  const inTime = await within(ports, maxMs, ended);
  if (inTime || withoutMs <= maxMs) return inTime;
  const oneReady = Promise.any(
    running.map(async ({ first, status }) => {
      await first;
      if (status().state !== 'ready') throw new Error('This server has failed.');
    }),
  );
  // It rejects when the attempts of all servers have ended without success.
  return await within(
    ports,
    withoutMs - maxMs,
    oneReady.catch(() => {}),
  );
}

/** Waits for some work, for at most this many milliseconds. Resolves to false if it took longer. */
async function within(ports: GatewayPorts, ms: number, work: Promise<unknown>): Promise<boolean> {
  let cancel: (() => void) | undefined;
  const late = new Promise<false>((resolve) => {
    cancel = ports.later(() => resolve(false), ms);
  });
  const inTime = await Promise.race([late, work.then(() => true)]);
  cancel?.();
  return inTime;
}

async function closeAll(state: State): Promise<void> {
  const { servers, logs, apis, closing } = state;
  logs.discard();
  apis.close();
  await Promise.all([...[...servers.values()].map(({ server }) => server.close()), ...closing]);
  await logs.close();
}
