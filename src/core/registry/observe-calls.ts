/** Watches or traces the calls of a registry or a session. */

import { describe, MisuseError } from '../../values/errors/index.ts';
import {
  checkOption,
  checkSpelling,
  withMethods,
  wrongOption,
} from '../../values/options/index.ts';
import { type CallObserver, CallObservers } from '../call/call-observers.ts';
import type { CallTracer } from '../call/call-tracers.ts';
import { Tracers } from '../call/traced.ts';
import { stateOf } from '../session/session.ts';
import { wholeRegistry } from './registry-state.ts';
import { registryStateOf } from './state-of.ts';

/** An observer that was added. */
export interface Observing {
  /** The registry whose calls are observed, for comparison. */
  readonly registry: object;
  /** Removes the observer. */
  stop(): void;
  /**
   * The calls in flight, of whose end the observer will be told, and whether a record of their
   * start was made.
   */
  running(): ReadonlyMap<object, boolean>;
  /** Epoch milliseconds by the registry's `now`. */
  now(): number;
  /** Logs a fault of the observer to the registry's logger. */
  report(error: unknown, message: string): void;
}

/**
 * Adds an observer.
 * @param where The function that was called, for messages.
 * @throws MisuseError `invalid_option` if the target is neither a registry nor a session, or if the
 * observer lacks `ended`, has a misspelt method, or one that is not a function.
 *
 * @example
 * ```ts
 * import { observeCalls } from 'host-tools/extend';
 *
 * const observing = observeCalls('printCalls', registry, {
 *   ended: ({ tool, status, durationMs }) => console.log(tool, status, durationMs),
 * });
 * // later: observing.stop();
 * ```
 */
export function observeCalls(where: string, target: unknown, observer: CallObserver): Observing {
  const { registry, session } = statesOf(where, target);
  checkObserver(where, observer);
  registry.observers ??= new CallObservers();
  return {
    registry,
    stop: registry.observers.add(observer, session),
    running() {
      const calls = new Map<object, boolean>();
      for (let call = registry.calls; call !== undefined; call = call.next)
        if (call.announced && (session === undefined || call.session === session))
          calls.set(call, call.extra?.recorded !== undefined);
      return calls;
    },
    now: () => registry.now(),
    report: (error, message) => registry.hostFault(error, { source: 'audit' }, message),
  };
}

/** @throws MisuseError `invalid_option` for an observer that would not be called as it is meant. */
function checkObserver(where: string, observer: CallObserver): void {
  checkOption(where, 'observer', observer, withMethods<CallObserver>(['ended']));
  checkSpelling(where, observer, ['ended', ...optional]);
  for (const name of optional)
    if (observer[name] !== undefined && typeof observer[name] !== 'function')
      throw wrongOption(where, name, 'a function', observer[name]);
}

const optional = ['starting', 'moreRoom', 'refuses'] as const;

function statesOf(
  where: string,
  target: unknown,
): {
  registry: ReturnType<typeof registryStateOf>;
  session: ReturnType<typeof stateOf> | undefined;
} {
  const read = [
    () => ({ registry: registryStateOf(target), session: undefined }),
    () => {
      const session = stateOf(target);
      return { registry: wholeRegistry(session.registry), session };
    },
  ];
  for (const states of read) {
    try {
      return states();
    } catch {
      // The target may be a session instead.
    }
  }
  throw new MisuseError(
    'invalid_option',
    `${where}: expected a HostToolRegistry or a session of this copy of host-tools, got ` +
      `${describe(target)}.`,
  );
}

/**
 * Lets a tracer follow the calls that arrive from now on. The returned function stops that. Calls
 * that are already running are followed to their end.
 * @throws MisuseError `invalid_option` if the target is not a registry, or the tracer lacks
 * `begin`.
 *
 * @example
 * ```ts
 * import { traceCalls } from 'host-tools/extend';
 *
 * const stop = traceCalls(registry, {
 *   begin: ({ tool }) => ({
 *     within: (phase, run) => run(),
 *     left: (phase) => console.log(`${tool}: ${phase} is over`),
 *     ended: ({ durationMs, code }) => console.log(`${tool}: ${code ?? 'ok'}, ${durationMs} ms`),
 *   }),
 * });
 * ```
 */
export function traceCalls(registry: unknown, tracer: CallTracer): () => void {
  const state = registryStateOf(registry);
  checkOption('traceCalls', 'tracer', tracer, withMethods<CallTracer>(['begin']));
  state.tracers = new Tracers([...(state.tracers?.all ?? []), tracer]);
  let there = true;
  return () => {
    if (!there) return;
    there = false;
    const left = [...(state.tracers?.all ?? [])];
    left.splice(left.indexOf(tracer), 1);
    state.tracers = left.length === 0 ? undefined : new Tracers(left);
  };
}
