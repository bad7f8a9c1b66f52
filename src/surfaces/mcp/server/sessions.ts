/**
 * The MCP sessions of the 2025 era: a bounded table, in which each session belongs to the principal
 * that opened it.
 */
import { randomBytes } from 'node:crypto';
import pTimeout from 'p-timeout';
import { type MemoryEvents, memoryEvents } from './events.ts';
import type { HandlerSettings } from './options.ts';
import type { Sdk } from './sdk.ts';
import { type McpSession, openSession } from './session.ts';
import type { Sourced } from './sourced.ts';
import { createOpenRequests, type Places } from './wire.ts';

/** The table. */
export interface McpSessions {
  /**
   * Undefined if there is no room. A principal that has its share already loses one of its own
   * sessions. @param id of a session that was open before. @default a new one
   */
  open(
    source: () => Promise<Sourced>,
    principal: string | undefined,
    id?: string,
  ): Promise<McpSession | undefined>;
  find(id: string | null, principal: string | undefined): McpSession | undefined;
  readonly size: number;
  close(): Promise<void>;
}

interface Table {
  readonly sdk: Sdk;
  readonly settings: HandlerSettings;
  readonly requests: Places;
  readonly memory: MemoryEvents | undefined;
  /** The sessions that one principal may have. */
  readonly share: number;
  readonly open: Map<string, McpSession>;
  /** The principals of sessions that are being opened. */
  readonly opening: (string | undefined)[];
  /** The openings in progress. */
  readonly openings: Set<Promise<unknown>>;
  timer: ReturnType<typeof setTimeout> | undefined;
  closed: boolean;
}

/** Milliseconds that a session must be idle before it may make way for another client's. */
const evictableAfterMs = 60_000;
/** Milliseconds that closing waits for sessions that are being opened. */
const openingMs = 1_000;

/** Whether an id has the form that this server gives to sessions. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(id);
}

/** @param requests places for requests without an answer */
export function createMcpSessions(
  sdk: Sdk,
  settings: HandlerSettings,
  requests: Places,
): McpSessions {
  const table: Table = {
    sdk,
    settings,
    requests,
    memory: (settings.eventStore ?? settings.store) === undefined ? memoryEvents() : undefined,
    // Without authentication all clients count as one principal.
    share:
      settings.authenticate === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(1, Math.floor(settings.maxSessions / 4)),
    open: new Map(),
    opening: [],
    openings: new Set(),
    timer: undefined,
    closed: false,
  };
  return {
    async open(source, principal, id) {
      if (table.closed) return undefined;
      const work = openOne(table, source, principal, id).finally(() => table.openings.delete(work));
      table.openings.add(work);
      return work;
    },
    find(id, principal) {
      const mcp = id === null ? undefined : table.open.get(id);
      return mcp?.principal === principal ? mcp : undefined;
    },
    get size() {
      return table.open.size;
    },
    async close() {
      table.closed = true;
      await Promise.all([...table.open.values()].map((mcp) => mcp.close()));
      // A source that never answers must not delay this. A session that it returns later is closed
      // then.
      await pTimeout(Promise.allSettled(table.openings), {
        milliseconds: openingMs,
        fallback: () => [],
      });
      clearTimeout(table.timer);
    },
  };
}

async function openOne(
  table: Table,
  source: () => Promise<Sourced>,
  principal: string | undefined,
  before: string | undefined,
): Promise<McpSession | undefined> {
  const { sdk, settings, memory, requests, open, opening } = table;
  const leaving = makesWay(table, principal);
  if (leaving === false) return undefined;
  // The place is taken before anything asynchronous happens.
  opening.push(principal);
  try {
    await leaving?.close().catch(settings.report);
    const sourced = await source();
    const mcp = await openSession({
      sdk,
      settings,
      memory,
      id: before ?? randomBytes(24).toString('base64url'),
      principal,
      sourced,
      inFlight: createOpenRequests(requests, principal),
      isResumed: before !== undefined,
      open,
    });
    if (table.closed) await mcp.close().catch(settings.report);
    armSweep(table);
    return table.closed ? undefined : mcp;
  } finally {
    opening.splice(opening.indexOf(principal), 1);
  }
}

/** The session that must close for a new one; undefined if none must, false if there is no room. */
function makesWay(
  { settings, share, open, opening }: Table,
  principal: string | undefined,
): McpSession | undefined | false {
  const own = [...open.values()].filter((mcp) => mcp.principal === principal);
  if (own.length + opening.filter((other) => other === principal).length >= share)
    return own.find(({ use }) => use.busy === 0) ?? own[0] ?? false;
  if (open.size + opening.length < settings.maxSessions) return undefined;
  let oldest: McpSession | undefined;
  for (const mcp of open.values())
    if (mcp.use.busy === 0 && (oldest === undefined || mcp.use.idleSince < oldest.use.idleSince))
      oldest = mcp;
  return (
    oldest !== undefined && performance.now() - oldest.use.idleSince >= evictableAfterMs && oldest
  );
}

function armSweep(table: Table): void {
  if (table.timer !== undefined || table.open.size === 0 || table.closed) return;
  const { sessionIdleMs } = table.settings;
  table.timer = setTimeout(() => sweep(table), Math.max(10, Math.min(60_000, sessionIdleMs / 2)));
  table.timer.unref();
}

/** Closes the sessions that were idle for too long. */
function sweep(table: Table): void {
  const { sessionIdleMs, report } = table.settings;
  table.timer = undefined;
  const limit = performance.now() - sessionIdleMs;
  for (const { use, close } of table.open.values())
    if (use.busy === 0 && use.idleSince <= limit) void close().catch(report);
  armSweep(table);
}
