/** Which rules the cases of `policy test` exercise. */

import type { Explanation, HostToolRegistry } from '../core.ts';
import { inspectRegistry } from '../extend.ts';
import { printable } from './printable.ts';

/** A rule, by its id and the place where it is written. */
interface RuleName {
  readonly id: string;
  readonly layer: string;
}

/** How many of the rules the cases exercise. */
export interface Coverage {
  /** All rules: of the registry, its scopes and its profiles. */
  readonly rules: number;
  /** Rules that matched in a case. */
  readonly exercised: number;
  /** From 0 to 100; 100 if there are no rules. */
  readonly percent: number;
  readonly unexercised: readonly RuleName[];
}

/** Gathers the rules that matched. */
export interface CoverageLog {
  /** Adds the results of a case. */
  note(explanation: Explanation): void;
  coverage(): Coverage;
}

/**
 * A rule is exercised by a case in which it matches. Once a rule denies a call, the rules after it
 * are not evaluated, and the case would pass without them.
 */
export function createCoverage(registry: HostToolRegistry): CoverageLog {
  const open = new Map<string, RuleName>();
  for (const { id, layer } of inspectRegistry(registry).rules)
    open.set(keyOf(layer, id), { id, layer });
  const { size } = open;
  return {
    note({ steps }) {
      for (const { source, ruleId, effect, reason } of steps)
        if (effect !== undefined && reason !== 'rules_over_budget')
          open.delete(keyOf(source, ruleId));
    },
    coverage: () => ({
      rules: size,
      exercised: size - open.size,
      percent: size === 0 ? 100 : (100 * (size - open.size)) / size,
      unexercised: [...open.values()],
    }),
  };
}

function keyOf(layer: unknown, id: unknown): string {
  return JSON.stringify([layer, id]);
}

/** Lines for people. @param least The required percentage. */
export function coverageText(
  { rules, exercised, percent, unexercised }: Coverage,
  least: number | undefined,
): readonly string[] {
  const missed = least !== undefined && percent < least ? `, expected at least ${least} %` : '';
  // Rounded down, so that 100 % means all of them.
  const head = `Coverage: ${exercised} of ${rules} rules, ${Math.floor(percent)} %${missed}.`;
  return [
    unexercised.length === 0 ? head : `${head} No case exercises:`,
    ...unexercised.map(({ id, layer }) => printable(`      ${id} of ${layer}`)),
  ];
}
