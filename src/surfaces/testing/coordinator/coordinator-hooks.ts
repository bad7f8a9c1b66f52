/**
 * The hook pipeline of {@link TestCoordinator}. It orders, chains, merges and ranks the answers of
 * handlers as a real runtime does.
 */

import type { HookAction, HookHandler, HookResult, HooksPort } from '../../../core.ts';
import { type FaultListener, safeFaultListener } from '../../amplifier/coordinator-state.ts';

type EventData = Readonly<Record<string, unknown>>;

export interface TestHooksOptions {
  /** The clock of the `timestamp` field: epoch milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Called when a handler throws or returns something that is not a hook result. */
  readonly onFault?: FaultListener | undefined;
  /** Called for every emission before its handlers, also if it has no handlers. */
  readonly onEmit?: ((event: string, data: EventData) => void) | undefined;
}

/** A hook registry for tests. */
export interface TestHooks extends HooksPort {
  /**
   * Returns a function that removes this registration; calling it again does nothing. A name may
   * be used more than once, on several events and on one.
   */
  register(event: string, handler: HookHandler, priority?: number, name?: string): () => void;
  /**
   * Runs the handlers one after the other. Never rejects. The handlers see the data with the
   * default fields for what it lacks and a `timestamp` (ISO 8601, UTC) that replaces its own.
   * Without handlers, the result is `continue` with the data unchanged. A `modify` ends as
   * `continue` with the changed data; if `ask_user` or `inject_context` wins, the changed data is
   * lost.
   */
  emit(event: string, data?: EventData): Promise<HookResult>;
  /**
   * Runs the handlers and returns the `data` of each answer, in order. Handlers that fail or take
   * longer than `timeoutMs` are left out. Handlers get neither a timestamp nor the default fields.
   * @default timeoutMs 1_000
   */
  emitAndCollect(event: string, data?: EventData, timeoutMs?: number): Promise<EventData[]>;
  /** Replaces the default fields, which handlers see where the data of an emission has none. */
  setDefaultFields(fields: EventData): void;
  /** Returns the names of the handlers by event, in the order in which they run. */
  listHandlers(): Map<string, string[]>;
}

/** The defaults for absent fields of a {@link HookResult}. */
export const hookResultDefaults = {
  data: null,
  reason: null,
  context_injection: null,
  context_injection_role: 'system',
  ephemeral: false,
  append_to_last_tool_result: false,
  suppress_output: false,
  user_message: null,
  user_message_level: 'info',
  user_message_source: null,
  approval_prompt: null,
  approval_options: null,
  approval_timeout: 300,
  approval_default: 'deny',
} as const satisfies Omit<HookResult, 'action'>;

const actions = new Set<unknown>([
  'continue',
  'deny',
  'modify',
  'inject_context',
  'ask_user',
] satisfies HookAction[]);

interface Entry {
  readonly id: number;
  readonly name: string;
  readonly priority: number;
  readonly handler: HookHandler;
}

/** The state of one hook registry. */
interface Hooks {
  readonly byEvent: Map<string, readonly Entry[]>;
  readonly now: () => number;
  readonly report: FaultListener;
  /** The fields under the data of every emission. */
  defaults: EventData;
  nextId: number;
}

/** Makes an empty hook registry. */
export function createTestHooks({
  now = Date.now,
  onFault,
  onEmit,
}: TestHooksOptions = {}): TestHooks {
  const hooks: Hooks = {
    byEvent: new Map(),
    now,
    report: safeFaultListener(onFault),
    defaults: {},
    nextId: 0,
  };
  return {
    register(event, handler, priority = 0, name) {
      hooks.nextId += 1;
      const id = hooks.nextId;
      return register(hooks, event, { id, name: name ?? `handler-${id}`, priority, handler });
    },
    async emit(event, data = {}) {
      onEmit?.(event, data);
      return complete(await emit(hooks, event, data));
    },
    emitAndCollect: (event, data = {}, timeoutMs = 1_000) =>
      emitAndCollect(hooks, event, data, timeoutMs),
    setDefaultFields(fields) {
      hooks.defaults = { ...fields };
    },
    listHandlers: () =>
      new Map(
        [...hooks.byEvent].map(([event, entries]) => [event, entries.map(({ name }) => name)]),
      ),
  };
}

/** Adds an entry, and returns the function that removes this entry. */
function register({ byEvent }: Hooks, event: string, entry: Entry): () => void {
  // A new list each time, so that an emission in progress keeps the handlers that it began with.
  const rest = byEvent.get(event) ?? [];
  byEvent.set(
    event,
    [...rest, entry].sort((a, b) => a.priority - b.priority),
  );
  // By id and not by name: the same name on another event, or twice on one, must stay registered.
  return () => {
    const left = (byEvent.get(event) ?? []).filter(({ id }) => id !== entry.id);
    if (left.length === 0) byEvent.delete(event);
    else byEvent.set(event, left);
  };
}

async function emit(hooks: Hooks, event: string, data: EventData): Promise<HookResult> {
  const entries = hooks.byEvent.get(event) ?? [];
  if (entries.length === 0) return { action: 'continue', data };
  const timestamp = new Date(hooks.now()).toISOString();
  let current: EventData = { ...hooks.defaults, ...data, timestamp };
  let asked: HookResult | undefined;
  const injections: HookResult[] = [];
  for (const entry of entries) {
    const answer = await ask(hooks, entry, event, current);
    if (answer === undefined) continue;
    if (answer.action === 'deny') return answer;
    if (answer.action === 'modify' && answer.data) current = answer.data;
    if (answer.action === 'inject_context' && answer.context_injection) injections.push(answer);
    if (answer.action === 'ask_user') asked ??= answer;
  }
  return asked ?? mergeInjections(injections) ?? { action: 'continue', data: current };
}

async function emitAndCollect(
  hooks: Hooks,
  event: string,
  data: EventData,
  timeoutMs: number,
): Promise<EventData[]> {
  const collected: EventData[] = [];
  for (const entry of hooks.byEvent.get(event) ?? []) {
    const answer = await within(ask(hooks, entry, event, data), timeoutMs);
    if (answer === 'late')
      hooks.report({
        where: 'hook',
        name: entry.name,
        error: new Error(`No answer within ${timeoutMs} ms`),
      });
    else if (answer?.data) collected.push(answer.data);
  }
  return collected;
}

/** The answer of one handler, or undefined if the handler failed. Never rejects. */
async function ask(
  { report }: Hooks,
  entry: Entry,
  event: string,
  data: EventData,
): Promise<HookResult | undefined> {
  try {
    const answer = await entry.handler(event, { ...data });
    if (answer === undefined || answer === null) return { action: 'continue' };
    // The copy is made inside `try`: an answer whose getters throw counts as a handler that throws.
    const copy = { ...answer };
    if (actions.has(copy.action)) return copy;
    throw new TypeError(
      'Expected the handler to return a hook result with a known `action`, or nothing',
    );
  } catch (error) {
    report({ where: 'hook', name: entry.name, error });
    return undefined;
  }
}

function complete(result: HookResult): HookResult {
  return { ...hookResultDefaults, ...result };
}

/** One injection is kept as it is. Several become one text with the settings of the first. */
function mergeInjections(injections: readonly HookResult[]): HookResult | undefined {
  const [first] = injections;
  if (first === undefined || injections.length === 1) return first;
  return {
    action: 'inject_context',
    context_injection: injections.map((injection) => injection.context_injection).join('\n\n'),
    context_injection_role: first.context_injection_role ?? 'system',
    ephemeral: first.ephemeral ?? false,
    suppress_output: first.suppress_output ?? false,
    append_to_last_tool_result: injections.some(
      (injection) => injection.append_to_last_tool_result === true,
    ),
  };
}

/**
 * The promise's value, or `'late'`. `ask` never rejects, so there can be no unhandled rejection.
 */
async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | 'late'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late');
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
