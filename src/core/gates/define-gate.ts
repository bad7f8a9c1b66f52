/** Makes gates of a host's own. */

import type { CallGate, Gate, OutputGate } from '../../api/gate.ts';
import type { ToolSummary } from '../../api/tool.ts';
import {
  fn,
  kind,
  oneOf,
  readOptions,
  required,
  type TableOf,
} from '../../values/options/index.ts';
import { askGates } from './ask-gates.ts';
import { made } from './gate.ts';

/**
 * Makes a gate, for `gates` of a registry or a session.
 * @throws MisuseError `invalid_option` that names the field.
 *
 * @example
 * ```ts
 * import { defineGate, HostToolRegistry } from 'host-tools';
 *
 * const businessHours = defineGate({
 *   name: 'business-hours',
 *   at: 'start',
 *   applies: (tool) => tool.annotations.destructive === true,
 *   run: () =>
 *     new Date().getHours() < 18
 *       ? undefined
 *       : { code: 'policy_denied', reason: 'after_hours', message: 'Try again tomorrow.' },
 * });
 * const registry = new HostToolRegistry({ gates: [businessHours] });
 * ```
 */
export function defineGate<S = unknown>(gate: OutputGate<S>): OutputGate<S>;
export function defineGate<S = unknown>(gate: CallGate<S>): CallGate<S>;
export function defineGate(gate: Gate): Gate {
  const { name, at, applies, run } = readOptions('defineGate', gate, gateTable(), {
    noun: 'field',
    refusesInherited: true,
  });
  const own = Object.freeze({ name, at, applies, run }) as Gate;
  made.set(own, askGates);
  return own;
}

/** A function, so that a bundle without gates leaves it out. */
const gateTable = () =>
  ({
    name: required(
      kind<string>(
        'a non-blank string of at most 256 characters',
        (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 256,
      ),
    ),
    at: required(oneOf('judge', 'start', 'output')),
    applies: fn<(tool: ToolSummary) => boolean>(),
    run: required(fn<Gate['run']>()),
  }) satisfies TableOf<Gate>;
