/**
 * The hook pipeline of {@link TestCoordinator}: order, chaining, merging and precedence as a real
 * runtime has them.
 */

import type { HookAction, HookHandler, HookResult, HooksPort } from '../../index.ts';
import {
  type FaultListener,
  safeFaultListener,
} from '../../surfaces/amplifier/coordinator-faults.ts';

type EventData = Readonly<Record<string, unknown>>;

export interface TestHooksOptions {
  /** The clock of the `timestamp` field: epoch milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Is told of handlers that threw or answered nonsense. */
  readonly onFault?: FaultListener | undefined;
  /** Sees every emission before its handlers do, also one without handlers. */
  readonly onEmit?: ((event: string, data: EventData) => void) | undefined;
}

/** A hook registry for tests. */
export interface TestHooks extends HooksPort {
  /**
   * Gives back the function that takes this very registration away; calling it again does nothing.
   * A name may repeat, over events and within one.
   */
  register(event: string, handler: HookHandler, priority?: number, name?: string): () => void;
  /**
   * Runs the handlers one after the other. Never rejects. With handlers, they see defaults under
   * the data and a `timestamp` (ISO 8601, UTC) over it; without, the result is `continue` with the
   * data untouched. A `modify` ends as `continue` with the changed data; when `ask_user` or
   * `inject_context` wins, the changed data is lost.
   */
  emit(event: string, data?: EventData): Promise<HookResult>;
  /**
   * The `data` of each handler's own answer, in order; handlers that fail or take longer than
   * `timeoutMs` are left out. No timestamp, no defaults. @default timeoutMs 1_000
   */
  emitAndCollect(event: string, data?: EventData, timeoutMs?: number): Promise<EventData[]>;
  /** Replaces the fields that lie under the data of every emission. */
  setDefaultFields(fields: EventData): void;
  /** Handler names by event, in the order in which they run. */
  listHandlers(): Map<string, string[]>;
}

/** What absent fields of a {@link HookResult} stand for. */
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

/** Makes an empty hook registry. */
export function createTestHooks({
  now = Date.now,
  onFault,
  onEmit,
}: TestHooksOptions = {}): TestHooks {
  const byEvent = new Map<string, Entry[]>();
  const report = safeFaultListener(onFault);
  let defaults: EventData = {};
  let nextId = 0;

  const ask = async (
    entry: Entry,
    event: string,
    data: EventData,
  ): Promise<HookResult | undefined> => {
    try {
      const answer = await entry.handler(event, { ...data });
      if (answer === undefined || answer === null) return { action: 'continue' };
      // A copy, made here: an answer whose getters throw is a handler that throws.
      const copy = { ...answer };
      if (actions.has(copy.action)) return copy;
      throw new TypeError('The handler answered with something that is no hook result');
    } catch (error) {
      report({ where: 'hook', name: entry.name, error });
      return undefined;
    }
  };

  return {
    register(event, handler, priority = 0, name) {
      nextId += 1;
      const entry: Entry = { id: nextId, name: name ?? `handler-${nextId}`, priority, handler };
      // A new list each time: an emission under way keeps the handlers that it began with.
      const rest = byEvent.get(event) ?? [];
      byEvent.set(
        event,
        [...rest, entry].sort((a, b) => a.priority - b.priority),
      );
      // By id, not by name: one name on two events, or twice on one, must not take the other away.
      return () => {
        const left = (byEvent.get(event) ?? []).filter(({ id }) => id !== entry.id);
        if (left.length === 0) byEvent.delete(event);
        else byEvent.set(event, left);
      };
    },

    async emit(event, data = {}) {
      onEmit?.(event, data);
      const entries = byEvent.get(event) ?? [];
      if (entries.length === 0) return complete({ action: 'continue', data });
      let current: EventData = { ...defaults, ...data, timestamp: new Date(now()).toISOString() };
      let asked: HookResult | undefined;
      const injections: HookResult[] = [];
      for (const entry of entries) {
        const answer = await ask(entry, event, current);
        if (answer === undefined) continue;
        if (answer.action === 'deny') return complete(answer);
        if (answer.action === 'modify' && answer.data) current = answer.data;
        if (answer.action === 'inject_context' && answer.context_injection) injections.push(answer);
        if (answer.action === 'ask_user') asked ??= answer;
      }
      return complete(
        asked ?? mergeInjections(injections) ?? { action: 'continue', data: current },
      );
    },

    async emitAndCollect(event, data = {}, timeoutMs = 1_000) {
      const collected: EventData[] = [];
      for (const entry of byEvent.get(event) ?? []) {
        const answer = await within(ask(entry, event, data), timeoutMs);
        if (answer === 'late')
          report({
            where: 'hook',
            name: entry.name,
            error: new Error(`No answer within ${timeoutMs} ms`),
          });
        else if (answer?.data) collected.push(answer.data);
      }
      return collected;
    },

    setDefaultFields(fields) {
      defaults = { ...fields };
    },
    listHandlers: () =>
      new Map([...byEvent].map(([event, entries]) => [event, entries.map(({ name }) => name)])),
  };
}

function complete(result: HookResult): HookResult {
  return { ...hookResultDefaults, ...result };
}

/** One injection stands as it is; several become one text under the settings of the first. */
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

/** The promise's value, or `'late'`. `ask` never rejects, so nothing is left to go unhandled. */
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
