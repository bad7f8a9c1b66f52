/** Lets tracers follow the calls of a registry. */
import { checkOption, withMethods } from '../../values/options/index.ts';
import type { CallTracer } from '../call/call-tracers.ts';
import { Tracers } from '../call/traced.ts';
import { registryStateOf } from './state-of.ts';

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
