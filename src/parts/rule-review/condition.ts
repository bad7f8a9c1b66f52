/** Whether a condition of a rule can hold for a tool, by the schema of its input. */

import type { ToolSummary } from '../../api/tool.ts';
import type { WrittenCondition } from '../../core/rules/conditions.ts';
import type { Side, Steps } from '../../values/json-schema/inclusion-values.ts';
import { knownValues } from '../../values/json-schema/known-values.ts';
import type { BoundSchema } from '../../values/schema/bind.ts';
import { type PreparedTest, prepareTest } from './outcomes.ts';
import { mayLack, type Route, reaches } from './reach.ts';

/** The part of a registered tool that is looked at. */
export interface LookedAtTool {
  readonly name: string;
  readonly summary: ToolSummary;
  readonly internals: {
    readonly input: BoundSchema;
    readonly attributes: ReadonlyMap<string, unknown> | undefined;
  };
}

/** How a path is read: widely as in a deny or ask, or narrowly as in an allow. */
export type Reading = 'wide' | 'narrow';

/**
 * - `may`: it may hold, as far as is known.
 * - `no path`: no input has anything at the path, and the condition holds for no call.
 * - `always`: no input has anything at the path, and the condition holds for each call.
 * - `no value`: no value that may be at the path makes it hold.
 */
export type Verdict = 'may' | 'no path' | 'always' | 'no value';

/** The steps for one condition of one tool, which take a millisecond or two. */
const maxSteps = 2_000;

/** @param budget Steps for many questions. When they are used up, everything may hold. */
export function judgeCondition(
  condition: WrittenCondition,
  tool: LookedAtTool,
  reading: Reading,
  budget: { left: number },
): Verdict {
  const steps: Steps = { left: Math.min(maxSteps, budget.left), enums: new Map() };
  const before = steps.left;
  const verdict = judge(condition, tool, reading, steps);
  budget.left -= before - steps.left + 1;
  // A search that was cut short has shown nothing.
  return steps.left < 0 ? 'may' : verdict;
}

function judge(
  condition: WrittenCondition,
  tool: LookedAtTool,
  reading: Reading,
  steps: Steps,
): Verdict {
  const test = preparedTest(condition, reading);
  const { attribute, path } = condition;
  if (attribute !== undefined && tool.internals.attributes?.has(attribute.of) === true) {
    // What the host answers may be anything. It is not asked about a value that is not there.
    const asked = routesOf(tool, attribute.of.split('.'), 'wide', steps);
    if (!asked.some((route) => reaches(route, () => true))) return missing(test);
    const answers = routeOf({ root: {}, dialect: sidesOf(tool)[0].dialect }, [], reading, steps);
    return reaches(answers, (leaf) => test.mayHoldAt(leaf, steps)) || test.holdsWhereAbsent
      ? 'may'
      : 'no value';
  }
  const routes = routesOf(tool, path, reading, steps);
  let isReached = false;
  const mayHoldAt = routes.some((route) =>
    reaches(route, (leaf) => {
      isReached = true;
      return test.mayHoldAt(leaf, steps);
    }),
  );
  if (mayHoldAt) return 'may';
  if (!isReached) {
    // An allow takes a value as absent only if no reading of the path finds it.
    const isFound = (route: Route): boolean => reaches({ ...route, wide: true }, () => true);
    return test.holdsWhereAbsent && routes.some(isFound) ? 'may' : missing(test);
  }
  return test.holdsWhereAbsent && routes.some(mayLack) ? 'may' : 'no value';
}

function missing({ holdsWhereAbsent }: PreparedTest): Verdict {
  return holdsWhereAbsent ? 'always' : 'no path';
}

/** What was sent and, if it differs, what the handler gets. */
function sidesOf({ internals }: LookedAtTool): readonly [Side, ...Side[]] {
  const { sent, parsed } = knownValues(internals.input);
  return parsed === undefined ? [sent] : [sent, parsed];
}

function routeOf(side: Side, path: readonly string[], reading: Reading, steps: Steps): Route {
  return { side, path, wide: reading === 'wide', steps };
}

/** The ways in which a path is followed through the values of a tool. */
export function routesOf(
  tool: LookedAtTool,
  path: readonly string[],
  reading: Reading,
  steps: Steps,
): readonly Route[] {
  return sidesOf(tool).map((side) => routeOf(side, path, reading, steps));
}

const prepared = new WeakMap<WrittenCondition, PreparedTest>();

/** A condition belongs to one rule, so it is always read in the same way. */
export function preparedTest(condition: WrittenCondition, reading: Reading): PreparedTest {
  let test = prepared.get(condition);
  if (test === undefined) {
    test = prepareTest(condition.written, reading === 'wide' ? 'loose' : 'strict', condition.check);
    prepared.set(condition, test);
  }
  return test;
}
