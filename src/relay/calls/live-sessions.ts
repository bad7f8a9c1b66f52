/**
 * The governed sessions of this node: one for each relay session that an agent uses here, over one
 * registry of the host's tools.
 */
import { HostToolRegistry, type SessionOptions, type ToolSession } from '../../index.ts';
import { readSessionOptions, registryStateOf } from '../../surface-port.ts';
import type { Hub } from '../hub.ts';
import type { RelaySessionOptions } from '../options.ts';
import { type LogRecord, logKeep, type SessionDocument } from '../ports/documents.ts';
import { leaving, type RelayError, sessionNotFound } from '../relay-error.ts';
import { faultOf } from '../report.ts';
import type { RelaySettings } from '../settings.ts';
import { createRelayedTools, type RelayedTools } from '../tools/relayed-tools.ts';
import { readTools } from '../tools/tools-document.ts';
import type { Calls } from './calls.ts';

/** A relay session as this node knows it. */
export interface LiveSession {
  readonly code: string;
  /** Every call of an agent goes through it. */
  readonly session: ToolSession;
  /** Whether a tool is the application's. */
  isRelayed(name: string): boolean;
  /** Keeps it from being closed for idleness. @returns lets go; idempotent */
  retain(): () => void;
  /** Runs when it closes here. */
  onClose(run: () => void | Promise<void>): void;
}

/** The live sessions of a node. */
export interface LiveSessions {
  /** The registry of the host's tools, rules and profiles. */
  readonly registry: HostToolRegistry;
  readonly count: number;
  /**
   * The session of a code, with its tools as the document says; made when it is first asked for.
   */
  get(document: SessionDocument): Promise<LiveSession>;
  /** The host's tool that a name is taken by, or could be taken for. */
  taken(name: string): string | undefined;
  /** The relay session is over. */
  close(code: string): Promise<void>;
  /** The node ends. A registry that was made here is closed. */
  closeAll(): Promise<void>;
}

/**
 * Milliseconds without a use after which a session is closed here; the store keeps all that is
 * asked for again. Grants of approvals end with it.
 */
const idleMs = 600_000;
const sweepMs = 60_000;
/**
 * Most characters of definitions of all live sessions. What is made of them takes ten times that.
 * Over it, sessions that nobody uses close sooner, longest unused first.
 */
const mostLiveChars = 64 * 1_024 * 1_024;
/**
 * Milliseconds after its last use for which none closes for that: its grants, windows and loop
 * guard end with it.
 */
const freshMs = 60_000;

interface Entry extends LiveSession {
  readonly tools: RelayedTools;
  readonly closers: (() => void | Promise<void>)[];
  readonly expiresAt: number;
  stop: () => void;
  revision: number;
  /** One look at the document after another. */
  syncing: Promise<void>;
  held: number;
  usedAt: number;
  /** Of its definitions. */
  chars: number;
  /** Why nobody is to open it again. */
  over: RelayError | undefined;
}

/**
 * Makes the live sessions of a node. @throws MisuseError for options that no session could be made
 * with
 */
export function createLiveSessions(
  options: RelaySessionOptions,
  settings: RelaySettings,
  hub: Hub,
  calls: Calls,
  mostChars = mostLiveChars,
): LiveSessions {
  const { store, now, logger, requestTimeoutMs } = settings;
  const registry =
    (options.registry as HostToolRegistry | undefined) ?? makeRegistry(options, settings);
  const state = registryStateOf(registry);
  const entries = new Map<string, Promise<Entry>>();
  const alive = new Set<Entry>();
  let ended = false;

  const sessionOptions = (code: string): SessionOptions => {
    const {
      profile,
      policies,
      hooks,
      services,
      facts,
      limits,
      exposeErrors = 'masked',
      approver,
      approvalMode,
      approvalTimeoutMs,
    } = options;
    const given = {
      profile,
      policies,
      hooks,
      services,
      facts,
      limits,
      approver,
      approvalMode,
      approvalTimeoutMs,
    };
    return {
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      exposeErrors,
      sessionId: code,
      principal: `relay:${code}`,
    };
  };
  // Now, and not at the first call of an agent.
  readSessionOptions(sessionOptions('session') as SessionOptions<never>, state);
  const sync = async (entry: Entry, wanted: number): Promise<void> => {
    if (entry.revision >= wanted) return;
    const found = await readTools(store, entry.code);
    if (found === undefined || found.document.revision <= entry.revision) return;
    const { document } = found;
    await entry.tools.show(document);
    entry.revision = document.revision;
    entry.chars = entry.tools.chars;
    makeRoom().catch(() => {});
  };
  const follow = (entry: Entry, wanted: number): Promise<void> => {
    entry.syncing = entry.syncing.catch(() => {}).then(() => sync(entry, wanted));
    return entry.syncing;
  };
  const open = async ({ code, expiresAt }: SessionDocument): Promise<Entry> => {
    const session = registry.createSession(sessionOptions(code));
    const tools = createRelayedTools({
      code,
      session,
      requestTimeoutMs,
      logger,
      run: (input, context, idempotent) => calls.run(code, input, context, idempotent),
    });
    const closers: Entry['closers'] = [];
    const entry: Entry = {
      code,
      session,
      tools,
      closers,
      expiresAt,
      isRelayed: tools.has,
      retain() {
        let holds = true;
        entry.held++;
        return () => {
          if (!holds) return;
          holds = false;
          entry.held--;
          entry.usedAt = performance.now();
        };
      },
      onClose: (run) => void closers.push(run),
      stop: () => {},
      revision: 0,
      syncing: Promise.resolve(),
      held: 0,
      usedAt: performance.now(),
      chars: 0,
      over: undefined,
    };
    session.events.on(
      'approval:required',
      ({ request: { id: approvalId, callId: id, title, message, risk } }) => {
        const record: LogRecord = {
          kind: 'approval',
          approvalId,
          id,
          title,
          ...(message === undefined ? {} : { message }),
          ...(risk === undefined ? {} : { risk }),
        };
        store.append(code, 'agent', JSON.stringify(record), logKeep).then(
          () => hub.wake(code, 'log:agent'),
          () => logger.warn({}, 'relay: an approval could not be announced'),
        );
      },
    );
    try {
      entry.stop = await hub.watch(code, (wake) => {
        // Whoever only listens, such as an MCP client, is told of a change too.
        if (wake === 'tools' || wake === undefined)
          follow(entry, Number.POSITIVE_INFINITY).catch(() => {});
        if (wake === 'closed') void close(code, sessionNotFound());
      });
    } catch (error) {
      await session.close();
      throw error;
    }
    alive.add(entry);
    return entry;
  };
  const isUnused = ({ held, usedAt }: Entry, ms: number): boolean =>
    held === 0 && performance.now() - usedAt >= ms;
  const makeRoom = async (): Promise<void> => {
    let chars = 0;
    for (const entry of alive) chars += entry.chars;
    if (chars <= mostChars) return;
    for (const entry of [...alive].sort((one, other) => one.usedAt - other.usedAt)) {
      if (chars <= mostChars) return;
      if (entry.chars === 0 || !isUnused(entry, freshMs) || !alive.delete(entry)) continue;
      chars -= entry.chars;
      await close(entry.code);
    }
  };
  /** @param over for good */
  const close = async (code: string, over?: RelayError): Promise<void> => {
    const opening = entries.get(code);
    entries.delete(code);
    const entry = await opening?.catch(() => undefined);
    if (entry === undefined) return;
    entry.over = over;
    alive.delete(entry);
    entry.stop();
    for (const run of entry.closers.splice(0)) {
      try {
        await run();
      } catch (error) {
        logger.warn({ err: faultOf(error) }, 'relay: closing a session: a clean-up failed');
      }
    }
    await entry.session.close();
  };
  const sweep = setInterval(async () => {
    for (const [code, opening] of entries) {
      const entry = await opening.catch(() => undefined);
      if (entry === undefined) continue;
      if (entry.expiresAt <= now()) await close(code, sessionNotFound());
      else if (isUnused(entry, idleMs)) await close(code);
    }
  }, sweepMs);
  // It keeps no process alive.
  sweep.unref?.();

  return {
    registry,
    get count() {
      return entries.size;
    },
    async get(document) {
      const { code, toolsRevision } = document;
      for (;;) {
        if (ended) throw leaving();
        let opening = entries.get(code);
        if (opening === undefined) {
          const made = open(document);
          opening = made;
          entries.set(code, made);
          made.catch(() => {
            if (entries.get(code) === made) entries.delete(code);
          });
        }
        const entry = await opening;
        // Nobody closes it for want of room while it gets its tools.
        const release = entry.retain();
        try {
          if (entry.revision < toolsRevision) await follow(entry, toolsRevision);
        } finally {
          release();
        }
        if (entries.get(code) === opening) return entry;
        if (entry.over !== undefined) throw entry.over;
      }
    },
    taken: (name) => state.twinOf(name),
    close: (code) => close(code, sessionNotFound()),
    async closeAll() {
      clearInterval(sweep);
      ended = true;
      await Promise.all([...entries.keys()].map((code) => close(code, leaving())));
      if (options.registry === undefined) await registry.close();
    },
  };
}

function makeRegistry(
  { tools = [], rules, profiles = [], approvals }: RelaySessionOptions,
  { now, logger }: RelaySettings,
): HostToolRegistry {
  const registry = new HostToolRegistry({
    now,
    logger,
    ...(rules === undefined ? {} : { rules }),
    ...(approvals === undefined ? {} : { approvals }),
  });
  registry.registerAll(tools);
  for (const profile of profiles) registry.defineProfile(profile);
  return registry;
}
