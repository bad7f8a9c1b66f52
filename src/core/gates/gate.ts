/** Checks gates of a host's own, and says what asks them. */

import type { Gate } from '../../api/gate.ts';
import { checkOption, kind } from '../../values/options/index.ts';
import type { ToolGates } from '../call/ports.ts';
import type { Gate as GateNames } from '../call/tally.ts';

/** A gate, with the layer that it was given to, and whether `applies` threw. */
export interface Layered<G extends Gate = Gate> {
  readonly gate: G;
  readonly names: GateNames;
  readonly fault: { readonly thrown: unknown } | undefined;
}

/**
 * What asks the gates of a tool. A gate brings it along, so that a bundle without gates leaves it
 * out.
 */
export type AskGates = (all: readonly Layered[]) => ToolGates;

/** The gates that this copy of the library has made. */
export const made = new WeakMap<object, AskGates>();

const gateList = kind<readonly Gate[]>(
  'a list of gates, each made by `defineGate` of this copy of host-tools',
  (value) =>
    Array.isArray(value) &&
    value.every((one: unknown) => typeof one === 'object' && one !== null && made.has(one)),
);

/** @throws MisuseError `invalid_option` for what is no list of gates. */
export function checkGates(where: string, gates: unknown): readonly Gate[] {
  const list: unknown = Array.isArray(gates) ? [...gates] : gates;
  checkOption(where, 'gates', list, gateList);
  return Object.freeze(list);
}
