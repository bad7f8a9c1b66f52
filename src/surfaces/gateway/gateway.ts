/**
 * A gateway: the MCP servers, the audit logs and the kept approvals that the files of a registry
 * name. Servers start concurrently, and none delays another.
 */
import { dirname, resolve } from 'node:path';
import { messageOf } from '../../errors/index.ts';
import type { HostToolRegistry } from '../../index.ts';
import { canonicalJson } from '../../json/index.ts';
import { redactText, scrubStrings } from '../../redaction/scrub.ts';
import { Secrets } from '../../redaction/secrets.ts';
import { registryStateOf } from '../../surface-port.ts';
import { createAuditLog } from '../audit/index.ts';
import type { FileHost, HostedParts } from '../config/file-host.ts';
import { setFileHost } from '../config/loaded-files.ts';
import type { AuditEntry, ServerEntry } from '../config/server-format.ts';
import { passOn } from '../mcp/passed-on.ts';
import { type GatewayServer, startServer } from './gateway-server.ts';
import { type ApprovalKeeper, createApprovalKeeper, type KeptApprovals } from './kept-approvals.ts';
import { createPassedLists, type PassedLists } from './passed-lists.ts';
import type { GatewayPorts } from './ports.ts';
import { connectionOf, missingText } from './server-connection.ts';
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
}

/** The servers and logs of a registry's files. */
export interface Gateway {
  /** Whether any file names a server. */
  readonly hasServers: boolean;
  /** How suspended calls are kept; undefined if no file defines it. */
  readonly approvals: KeptApprovals | undefined;
  /** In the order of the files. */
  statuses(): readonly ServerStatus[];
  /**
   * Waits until each server's first attempt has ended, at most so many milliseconds.
   * @param withoutMs the same as long as no server is ready. @default mostMs
   */
  settled(mostMs: number, withoutMs?: number): Promise<void>;
  /** Ends the servers, then the logs. @throws the errors of logs that cannot be written. */
  close(): Promise<void>;
}

interface Running {
  readonly file: string;
  readonly identity: string;
  readonly server: GatewayServer;
}

interface Log {
  readonly file: string;
  readonly identity: string;
  readonly detach: () => void;
  close(): Promise<void>;
}

interface State {
  readonly registry: HostToolRegistry<never>;
  readonly options: GatewayOptions;
  readonly ports: GatewayPorts;
  readonly servers: Map<string, Running>;
  readonly logs: Map<string, Log>;
  /** A log that was opened for a check, and is not in use yet. */
  opened: Log | undefined;
  readonly secrets: Secrets;
  readonly approvals: ApprovalKeeper;
  readonly passed: PassedLists;
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
  const state: State = {
    registry,
    options,
    ports,
    servers: new Map(),
    logs: new Map(),
    opened: undefined,
    secrets,
    approvals: createApprovalKeeper({
      registry: registry as unknown as HostToolRegistry,
      keeps: options.keeps,
      cwd: options.cwd,
      note: ports.note,
      settled: () => settled(state, startedWithinMs, startedWithinMs),
    }),
    passed: createPassedLists({
      servers: () => [...state.servers.values()].map(({ server }) => server),
      note: ports.note,
      scrub,
    }),
    closing: new Set(),
  };
  passOn(registry, state.passed);
  const host: FileHost = {
    problem(path, part, again) {
      if (part.section === 'audit') return logProblem(state, path, part.audit);
      if (part.section === 'approvals') return state.approvals.problem(path, part.approvals, again);
      return serverProblem(state, path, part.name, part.server, again);
    },
    take: (parts) => take(state, parts),
  };
  setFileHost(registry, host);
  return {
    get hasServers() {
      return state.servers.size > 0;
    },
    get approvals() {
      return state.approvals.kept;
    },
    statuses: () => [...state.servers.values()].map(({ server }) => server.status()),
    settled: (mostMs, withoutMs = mostMs) => settled(state, mostMs, withoutMs),
    close: () => closeAll(state),
  };
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
  if (!again || known?.identity === canonicalJson(entry as never)) return undefined;
  const { missing } = connectionOf({ entry, file: path, ports: state.ports });
  return missing.length === 0 ? undefined : missingText(missing);
}

/** Opens the log, so that an edit with a log that cannot be written is refused. */
function logProblem(state: State, file: string, audit: AuditEntry): string | undefined {
  const { registry, options, logs } = state;
  const identity = canonicalJson(audit as never);
  if (!options.records || logs.get(file)?.identity === identity) return undefined;
  discard(state);
  try {
    const log = createAuditLog({ ...audit, path: resolve(dirname(file), audit.path) });
    const detach = log.attach(registry);
    state.opened = { file, identity, detach, close: () => log.close() };
    return undefined;
  } catch (error) {
    const fault = messageOf(error);
    // Most clients start their own gateway.
    return fault.includes('only writer')
      ? `${fault} If another client has started a gateway with this file, start one gateway with ` +
          '`host-tools serve FILE --http PORT` instead, and let all clients connect to it.'
      : fault;
  }
}

/** Closes a log that was opened for an edit that was refused for another reason. */
function discard(state: State): void {
  const { opened } = state;
  state.opened = undefined;
  if (opened !== undefined) end(state, opened);
}

function end(state: State, log: Log): void {
  log.detach();
  hold(
    state,
    log.close().catch((error: unknown) => state.ports.note(`warning: ${messageOf(error)}`)),
  );
}

function hold(state: State, work: Promise<void>): void {
  state.closing.add(work);
  void work.finally(() => state.closing.delete(work));
}

function take(state: State, { path, servers, audit, approvals }: HostedParts): void {
  takeLog(state, path, audit);
  state.approvals.take(path, approvals);
  if (!state.options.starts) return;
  for (const [name, running] of state.servers) {
    if (running.file !== path) continue;
    const entry = servers.get(name);
    if (entry !== undefined && canonicalJson(entry as never) === running.identity) continue;
    state.servers.delete(name);
    hold(state, running.server.close());
  }
  const fresh = [...servers].filter(([name]) => !state.servers.has(name));
  for (const [, entry] of fresh) keepSecret(state, path, entry);
  const { registry, ports } = state;
  const { changed } = state.passed;
  for (const [name, entry] of fresh)
    state.servers.set(name, {
      file: path,
      identity: canonicalJson(entry as never),
      server: startServer({ name, file: path, entry, registry, ports, changed }),
    });
}

function takeLog(state: State, file: string, audit: AuditEntry | undefined): void {
  const { opened, logs } = state;
  const before = logs.get(file);
  if (opened?.file === file && audit !== undefined) {
    logs.set(file, opened);
    state.opened = undefined;
  } else if (audit === undefined) logs.delete(file);
  if (before !== undefined && logs.get(file) !== before) end(state, before);
}

/** From now on, no error, event or log shows the values that a server gets from the environment. */
function keepSecret(state: State, file: string, entry: ServerEntry): void {
  const { used } = connectionOf({ entry, file, ports: state.ports });
  const secret = used.filter((value) => value.length >= leastSecret);
  for (const value of secret) addSecret(state, value);
}

function addSecret({ secrets, registry }: State, value: string): void {
  secrets.addText(value);
  registryStateOf(registry as never).secrets = secrets;
}

async function settled(
  { servers, ports }: State,
  mostMs: number,
  withoutMs: number,
): Promise<void> {
  const running = [...servers.values()].map(({ server }) => server);
  const ended = Promise.all(running.map(({ first }) => first));
  await within(ports, mostMs, ended);
  if (withoutMs <= mostMs) return;
  const oneReady = Promise.any(
    running.map(async ({ first, status }) => {
      await first;
      if (status().state !== 'ready') throw new Error('This server has failed.');
    }),
  );
  // It rejects when the attempts of all servers have ended without success.
  await within(
    ports,
    withoutMs - mostMs,
    oneReady.catch(() => {}),
  );
}

/** Waits for some work, for at most this many milliseconds. */
async function within(ports: GatewayPorts, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel: (() => void) | undefined;
  const late = new Promise<void>((resolve) => {
    cancel = ports.later(resolve, ms);
  });
  await Promise.race([late, work]);
  cancel?.();
}

async function closeAll(state: State): Promise<void> {
  const { servers, logs, closing } = state;
  discard(state);
  await Promise.all([...[...servers.values()].map(({ server }) => server.close()), ...closing]);
  for (const { detach, close } of logs.values()) {
    detach();
    await close();
  }
}
