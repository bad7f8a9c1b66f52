/**
 * Mounting: a session's tools on a coordinator, kept in step with the session for as long as both
 * live.
 */

import { callTool } from '../call/spine.ts';
import type { CallOptions, Surface } from '../context.ts';
import { describe, MisuseError } from '../errors.ts';
import { ignoreRejection } from '../maybe-promise.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../options.ts';
import type { HostToolRegistry } from '../registry/registry.ts';
import type { ToolResult } from '../result.ts';
import { serializeOutput } from '../serialize.ts';
import { readToolArguments } from '../session/bind-host-tool.ts';
import { stateOf } from '../session/session.ts';
import type { ToolSession } from '../session/session-api.ts';
import type { SessionOptions } from '../session/session-options.ts';
import { type ReadCallOptions, readCallOptions, readToolOptions } from '../state/call-options.ts';
import type { SessionState } from '../state/session-state.ts';
import type { HostTool } from '../tool/host-tool.ts';
import type { CancellationPort, Coordinator } from './coordinator.ts';

/** How {@link mount} treats the coordinator. */
export interface MountOptions {
  /**
   * What happens when the coordinator has a tool of the same name that is not ours: `skip` leaves
   * theirs and reports ours in `failed`. @default "skip"
   */
  readonly onConflict?: 'skip' | 'replace' | undefined;
}

/** A session's tools on one coordinator. */
export interface Mount {
  /** Names that are mounted now. */
  readonly mounted: readonly string[];
  /**
   * Tools that are not mounted though they are effective, with the reason as text; tried again at
   * each refresh.
   */
  readonly failed: readonly { readonly name: string; readonly error: string }[];
  /**
   * Mounts and unmounts what changed. Happens by itself when the session's listing changes;
   * resolves when it is done.
   */
  refresh(): Promise<void>;
  /**
   * Takes our tools away and follows no more. Idempotent; also runs with the coordinator's clean-up
   * and when the session closes.
   */
  unmount(): Promise<void>;
}

/** A host tool with the names that the runtime of the seeds reads. */
export interface MountedTool extends HostTool {
  /** The same object as `inputSchema`. */
  readonly input_schema: HostTool['inputSchema'];
  /** The same object as `inputSchema`. */
  get_schema(): HostTool['inputSchema'];
  /** `requiresApproval` under that runtime's name. */
  readonly requires_approval: boolean;
  /**
   * Calls the tool. Where the coordinator is cancelled, the call ends as `cancelled` and does not
   * start.
   */
  execute(input: unknown, options?: CallOptions): Promise<MountedResult>;
}

/** A result that also answers to the name by which that runtime asks for its model-visible text. */
export type MountedResult = ToolResult & { get_serialized_output(): string };

const point = 'tools';
const mountTable = {
  onConflict: withDefault(oneOf('skip', 'replace'), 'skip'),
} satisfies TableOf<MountOptions>;

/**
 * Mounts the session's effective tools and follows the session: tools that appear or vanish are
 * mounted and unmounted. A tool that cannot be mounted is in `failed`; the others are mounted.
 */
export async function mount<S>(
  session: ToolSession<S>,
  coordinator: Coordinator,
  options?: MountOptions,
): Promise<Mount> {
  const { onConflict } = readOptions('mount', options, mountTable);
  const state = stateOf(session);
  if (!isCoordinator(coordinator))
    throw new MisuseError(
      'invalid_option',
      `mount: expected a coordinator with \`mount\`, \`unmount\` and \`get\`, got ` +
        `${describe(coordinator)}.`,
    );
  state.checkOpen('be mounted');
  const ours = new Map<string, { readonly tool: HostTool; readonly mounted: MountedTool }>();
  const failed = new Map<string, string>();
  let over = false;
  let turn: Promise<void> = Promise.resolve();

  const place = async (tool: HostTool): Promise<void> => {
    const { name } = tool;
    try {
      const there: unknown = await coordinator.get(point, name);
      const own = ours.get(name);
      if (
        there !== null &&
        there !== undefined &&
        there !== own?.mounted &&
        onConflict === 'skip'
      ) {
        ours.delete(name);
        failed.set(
          name,
          `The coordinator has another tool named \`${name}\`; it stays. Mount with ` +
            'onConflict: "replace" to take its place.',
        );
        return;
      }
      const mounted = mountable(tool, coordinator, state);
      await coordinator.mount(point, mounted, name);
      ours.set(name, { tool, mounted });
      failed.delete(name);
    } catch (error) {
      failed.set(name, textOf(error));
      report(state, error, 'mounting a tool failed', name);
    }
  };
  const remove = async (name: string): Promise<void> => {
    const own = ours.get(name);
    ours.delete(name);
    failed.delete(name);
    if (own === undefined) return;
    try {
      // Whoever took the name meanwhile keeps it.
      if ((await coordinator.get(point, name)) === own.mounted)
        await coordinator.unmount(point, name);
    } catch (error) {
      report(state, error, 'unmounting a tool failed', name);
    }
  };
  const sync = async (): Promise<void> => {
    const tools = over || state.closed ? [] : session.tools();
    const names = new Set(tools.map(({ name }) => name));
    for (const name of [...ours.keys(), ...failed.keys()]) if (!names.has(name)) await remove(name);
    for (const tool of tools) if (ours.get(tool.name)?.tool !== tool) await place(tool);
  };
  // One at a time, in order; a change during a turn is seen by the next.
  const refresh = (): Promise<void> => {
    turn = turn.then(sync);
    return turn;
  };
  const follower = (): void => ignoreRejection(refresh());
  const unmount = (): Promise<void> => {
    if (!over) {
      over = true;
      state.followers?.delete(follower);
      state.release();
    }
    return refresh();
  };
  state.followers ??= new Set();
  state.followers.add(follower);
  state.retain();
  state.watch();
  state.atClosing(unmount);
  const events = (): string[] =>
    session
      .tools()
      .flatMap(
        ({ name }) =>
          state.entryOf(name)?.internals.events.map((event) => `${name}:${event}`) ?? [],
      );
  void optional(state, () => coordinator.registerCleanup?.(unmount));
  void optional(state, () =>
    coordinator.registerContributor?.('observability.events', 'host-tools', () =>
      over || state.closed ? [] : events(),
    ),
  );
  void optional(state, () => coordinator.registerCapability?.('host-tools.session', session));
  await refresh();
  return Object.freeze({
    get mounted() {
      return Object.freeze([...ours.keys()]);
    },
    get failed() {
      return Object.freeze([...failed].map(([name, error]) => Object.freeze({ name, error })));
    },
    refresh,
    unmount,
  });
}

/** A member that is used where present: one that throws or rejects costs nothing but itself. */
async function optional(state: ReturnType<typeof stateOf>, use: () => unknown): Promise<void> {
  try {
    await use();
  } catch (error) {
    report(state, error, 'an optional member of the coordinator failed');
  }
}

/** Tells the registry's logger what the coordinator threw. */
function report(
  state: ReturnType<typeof stateOf>,
  thrown: unknown,
  message: string,
  tool?: string,
): void {
  const where = {
    sessionId: state.sessionId,
    source: 'coordinator',
    ...(tool === undefined ? {} : { toolName: tool }),
  };
  state.registry.hostFault(thrown, where, message);
}

/** Whatever was thrown becomes a non-empty text; reading it may itself throw. */
function textOf(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : String(thrown);
    if (typeof text === 'string' && text !== '') return text;
  } catch {
    // Falls through.
  }
  return 'The coordinator refused the tool without a message.';
}

function isCoordinator(value: unknown): value is Coordinator {
  if (typeof value !== 'object' || value === null) return false;
  const { mount: put, unmount: take, get } = value as Partial<Coordinator>;
  return typeof put === 'function' && typeof take === 'function' && typeof get === 'function';
}

const surface: Surface = Object.freeze({ name: 'mount' });

/**
 * The object that is mounted: plain, frozen, not callable, and still only a way into the session.
 */
function mountable(tool: HostTool, coordinator: Coordinator, state: SessionState): MountedTool {
  const { name, inputSchema, requiresApproval } = tool;
  const execute = (input: unknown, options?: CallOptions): Promise<MountedResult> => {
    const own = readToolOptions(options, false) ?? readCallOptions({});
    // The runtime's cancellation is asked, not listened to: a call that comes after it does not
    // start.
    const signal = isCancelled(coordinator) ? AbortSignal.abort() : own?.signal;
    return callTool(state, name, readToolArguments(input, inputSchema), {
      ...(own as ReadCallOptions),
      signal,
      surface,
    }).then(withText);
  };
  return Object.freeze({
    ...tool,
    fingerprint: tool.fingerprint,
    execute: Object.freeze(execute),
    input_schema: inputSchema,
    get_schema: Object.freeze(() => inputSchema),
    requires_approval: requiresApproval,
  });
}

/** Not enumerable: the result compares, spreads and serialises as any other. */
function withText(result: ToolResult): MountedResult {
  return Object.defineProperty(result, 'get_serialized_output', {
    value: () => serializeOutput(result),
  }) as MountedResult;
}

function isCancelled(coordinator: Coordinator): boolean {
  try {
    const { cancellation } = coordinator;
    return (
      typeof cancellation === 'object' &&
      cancellation !== null &&
      (cancellation as CancellationPort).isCancelled === true
    );
  } catch {
    return false;
  }
}

/**
 * Finds a session's coordinator, creates a session of ours, mounts its tools there, and answers the
 * mounted names. The coordinator is `target.coordinator`, that of the session inside `target`, or
 * `target` itself; without one the answer is `[]`. Our session closes with the coordinator's
 * clean-up, or with the registry.
 */
export async function registerHostToolsOnSession<S>(
  target: unknown,
  registry: HostToolRegistry<S>,
  options: SessionOptions<S>,
): Promise<string[]> {
  const coordinator = coordinatorOf(target);
  if (coordinator === undefined) return [];
  const session = registry.createSession(options);
  const { mounted } = await mount(session, coordinator);
  void optional(stateOf(session), () => coordinator.registerCleanup?.(() => session.close()));
  return [...mounted];
}

function coordinatorOf(target: unknown): Coordinator | undefined {
  if (typeof target !== 'object' || target === null) return undefined;
  const { coordinator, _amplifier_session: inner } = target as {
    coordinator?: unknown;
    _amplifier_session?: { coordinator?: unknown };
  };
  return [coordinator, inner?.coordinator, target].find(isCoordinator);
}
