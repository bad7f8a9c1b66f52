/** The audit logs that files name: opened for a check, and in use once their file is taken. */
import { basename, dirname, resolve } from 'node:path';
import { type HostToolRegistry, isMisuseError } from '../../core.ts';
import { messageOf } from '../../values/errors/index.ts';
import { canonicalJson } from '../../values/json/index.ts';
import { createAuditLog } from '../audit/index.ts';
import { maxSiblings, siblingOf } from '../audit/log-files.ts';
import type { AuditEntry } from '../config/server-format.ts';
import type { KeptStore } from './kept-store.ts';
import type { GatewayPorts } from './ports.ts';

/** Keeps the logs of files. */
export interface LogKeeper {
  /** Whether calls are recorded in the store of the gateway. */
  readonly usesStore: boolean;
  /**
   * Waits a moment for a log that another process still has. A command that was killed leaves a
   * second process, which ends a moment later.
   */
  ready(file: string, audit: AuditEntry): Promise<void>;
  /**
   * Opens the log, so that an edit that names one which cannot be written is refused. If another
   * process has it, opens the next log beside it that is free, unless the log is `exclusive`.
   */
  problem(file: string, audit: AuditEntry): string | undefined;
  /** Records calls from now on, or no longer. */
  take(file: string, audit: AuditEntry | undefined): void;
  /** Closes what was opened and is not in use. */
  discard(): void;
  /** Ends all logs. @throws what the logs throw that cannot be written */
  close(): Promise<void>;
}

interface Log {
  readonly file: string;
  readonly identity: string;
  /** The path in the file. */
  readonly path: string;
  /** The number of the log that is written. 1 is that of the path. */
  readonly number: number;
  readonly detach: () => void;
  close(): Promise<void>;
}

interface KeeperParts {
  readonly registry: HostToolRegistry<never>;
  /** Whether calls are recorded. Otherwise the logs are left alone. */
  readonly records: boolean;
  /** Where calls are recorded if a section names no file. */
  readonly store?: KeptStore | undefined;
  readonly ports: Pick<GatewayPorts, 'note' | 'pause'>;
  /** Takes work that has to end before the gateway is closed. */
  hold(work: Promise<void>): void;
}

interface State extends KeeperParts {
  readonly logs: Map<string, Log>;
  /** A log that was opened for a check, and is not in use yet. */
  opened: Log | undefined;
  closed: boolean;
}

/** A log that is exclusive is waited for longer, since the command fails without it. */
const exclusiveWaitMs = 3_000;
const waitMs = 1_000;
const pauseMs = 100;

export function createLogKeeper(parts: KeeperParts): LogKeeper {
  const state: State = { ...parts, logs: new Map(), opened: undefined, closed: false };
  return {
    get usesStore() {
      return [...state.logs.values()].some(({ path }) => path === inStore);
    },
    ready: (file, audit) => ready(state, file, audit),
    problem(file, audit) {
      const error = open(state, file, audit, audit.exclusive === true ? 1 : maxSiblings);
      return error === undefined ? undefined : reasonOf(error);
    },
    take: (file, audit) => take(state, file, audit),
    discard: () => discard(state),
    async close() {
      state.closed = true;
      for (const { detach, close } of state.logs.values()) {
        detach();
        await close();
      }
    },
  };
}

async function ready(state: State, file: string, audit: AuditEntry): Promise<void> {
  const maxMs = audit.exclusive === true ? exclusiveWaitMs : waitMs;
  for (let waited = 0; waited < maxMs && !state.closed; waited += pauseMs) {
    if (!isInUse(open(state, file, audit, 1))) return;
    if (waited === 0 && audit.exclusive === true)
      state.ports.note(
        `Another process still has the audit log \`${audit.path}\`. Waiting up to ` +
          `${maxMs / 1_000} seconds for it.`,
      );
    await state.ports.pause(pauseMs);
  }
}

/**
 * What prevents a log from being opened; undefined if it is open now, or was.
 * @param most how many logs are tried: that of the path, and those beside it
 */
function open(state: State, file: string, audit: AuditEntry, most: number): unknown {
  const { registry, records, logs } = state;
  const identity = canonicalJson(audit);
  const isOpen = (log: Log | undefined): boolean => log?.file === file && log.identity === identity;
  if (!records || isOpen(state.opened)) return undefined;
  discard(state);
  if (isOpen(logs.get(file))) return undefined;
  const { required } = audit;
  const path = audit.path === undefined ? inStore : resolve(dirname(file), audit.path);
  const own =
    ownProblem(state, file, path) ?? (path === inStore ? storeProblem(state, audit) : undefined);
  if (own !== undefined) return new Error(own);
  const { store } = state.store ?? {};
  let first: unknown;
  for (let number = 1; number <= most; number++)
    try {
      const log = createAuditLog(
        path === inStore ? { store, required } : { path: siblingOf(path, number), required },
      );
      const detach = log.attach(registry);
      state.opened = { file, identity, path, number, detach, close: () => log.close() };
      return undefined;
    } catch (error) {
      if (!isInUse(error)) return error;
      first ??= error;
    }
  return first;
}

/** Stands for the path of a log in the store. No path is like it, since paths are absolute. */
const inStore = 'store';

/** Why there cannot be a log in the store. */
function storeProblem({ store }: State, { exclusive }: AuditEntry): string | undefined {
  if (store === undefined)
    return (
      'expected `path`, the file of the log, or a store: give the file `store`, or the command ' +
      '`--store URL`'
    );
  if (store.store === undefined)
    return (
      'a folder keeps no audit log: give the log a `path`, or choose a store in PostgreSQL, ' +
      'Redis or SQLite'
    );
  return exclusive === true
    ? '`exclusive` is for a `path`: a log in a store has as many writers as there are'
    : undefined;
}

/** Why a log cannot be opened that this process has open already. */
function ownProblem({ logs }: State, file: string, path: string): string | undefined {
  const log = [...logs.values()].find((one) => one.path === path);
  if (log === undefined) return undefined;
  return log.file === file
    ? 'the options of a log cannot change while it is open: restart the command'
    : `the file \`${log.file}\` already names this log`;
}

function isInUse(error: unknown): boolean {
  return isMisuseError(error) && error.code === 'in_use';
}

function reasonOf(error: unknown): string {
  const fault = messageOf(error);
  // Most clients start a gateway of their own.
  return isInUse(error)
    ? `${fault} If another client has started a gateway with this file, start one gateway with ` +
        '`host-tools serve FILE --http PORT` instead, and let all clients connect to it.'
    : fault;
}

function take(state: State, file: string, audit: AuditEntry | undefined): void {
  const { opened, logs } = state;
  const before = logs.get(file);
  if (opened?.file === file && audit !== undefined) {
    logs.set(file, opened);
    state.opened = undefined;
    const { path, number } = opened;
    if (number > 1)
      state.ports.note(
        `Another process writes the audit log \`${audit.path}\`, so this one writes ` +
          `\`${basename(siblingOf(path, number))}\` beside it.`,
      );
  } else if (audit === undefined) logs.delete(file);
  if (before !== undefined && logs.get(file) !== before) end(state, before);
}

function discard(state: State): void {
  const { opened } = state;
  state.opened = undefined;
  if (opened !== undefined) end(state, opened);
}

function end({ hold, ports }: State, log: Log): void {
  log.detach();
  hold(log.close().catch((error: unknown) => ports.note(`warning: ${messageOf(error)}`)));
}
