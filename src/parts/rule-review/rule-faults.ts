/**
 * Finds rules, and what else has conditions, that can never match a call, by the schemas of the
 * tools that they are about.
 */
import type { RuleFault } from '../../api/explanation.ts';
import type { Conditioned, ReadPath } from '../../core/rules/conditioned.ts';
import type { WrittenCondition } from '../../core/rules/conditions.ts';
import type { CompiledRule } from '../../core/rules/rule.ts';
import { kindOf } from '../../values/json-schema/inclusion-values.ts';
import type { View } from '../../values/json-schema/inclusion-view.ts';
import {
  judgeCondition,
  type LookedAtTool,
  type Reading,
  routesOf,
  type Verdict,
} from './condition.ts';
import { reaches } from './reach.ts';
import { conditionText, unknownPathText, unknownText, wrongValueText } from './words.ts';

/** What has conditions that are judged. */
type Judged = Pick<CompiledRule | Conditioned, 'id' | 'layer' | 'when'>;

/**
 * The faults of a rule, or of what else has conditions; empty if it may match, as far as is known.
 * @param given All tools that it is about. Only as many are looked at as are needed.
 */
export function ruleFaults(
  one: CompiledRule | Conditioned,
  given: Iterable<LookedAtTool>,
  budget: { left: number },
): readonly RuleFault[] {
  if ('effect' in one)
    return conditionFaults(one, one.effect === 'allow' ? 'narrow' : 'wide', given, budget);
  const tools = [...given];
  if (tools.length === 0) return [];
  const ofPaths = pathFaults(one.reads, tools, budget).map((text) => faultOf(one, text));
  return [...conditionFaults(one, 'wide', tools, budget), ...ofPaths];
}

function conditionFaults(
  rule: Judged,
  reading: Reading,
  given: Iterable<LookedAtTool>,
  budget: { left: number },
): readonly RuleFault[] {
  if (rule.when.length === 0) return [];
  const tools: LookedAtTool[] = [];
  const verdicts = rule.when.map(() => [] as Verdict[]);
  /** Conditions for which some tool has something at the path. */
  const found = new Set<number>();
  let mayMatch = false;
  for (const tool of given) {
    tools.push(tool);
    let dead = false;
    for (const [index, condition] of rule.when.entries()) {
      const verdict = judgeCondition(condition, tool, reading, budget);
      if (budget.left < 0) return [];
      verdicts[index]?.push(verdict);
      if (verdict === 'may' || verdict === 'no value') found.add(index);
      if (verdict === 'no path' || verdict === 'no value') dead = true;
    }
    mayMatch ||= !dead;
    if (mayMatch && found.size === rule.when.length) return [];
  }
  if (tools.length === 0) return [];
  return rule.when.flatMap((condition, index) => {
    const own = verdicts[index] as Verdict[];
    if (!found.has(index)) {
      const holds = own.every((verdict) => verdict === 'always');
      return [faultOf(rule, textOf(condition, holds, tools, reading))];
    }
    if (mayMatch) return [];
    const lost = tools.filter((_, at) => own[at] === 'no path' || own[at] === 'no value');
    if (lost.length === 0) return [];
    const valued = tools.filter((_, at) => own[at] === 'no value');
    const text =
      valued.length === 0
        ? unknownText(condition, lost, reading)
        : wrongValueText(condition, valued, reading);
    return [faultOf(rule, `${conditionText(condition)} never holds: ${text}`)];
  });
}

/** The text about a path that no tool has. */
function textOf(
  condition: WrittenCondition,
  holds: boolean,
  tools: readonly LookedAtTool[],
  reading: Reading,
): string {
  const effect = holds ? 'holds for every call' : 'never holds';
  return `${conditionText(condition)} ${effect}: ${unknownText(condition, tools, reading)}`;
}

function faultOf({ id, layer }: Judged, message: string): RuleFault {
  return Object.freeze({
    ruleId: id,
    source: layer,
    message: message.endsWith('?') ? message : `${message}.`,
  });
}

// Whether the paths at which a part reads the input lead to something that it can use.

/** What is wrong with paths; empty if nothing is, as far as is known. */
function pathFaults(
  reads: readonly ReadPath[],
  tools: readonly LookedAtTool[],
  budget: { left: number },
): readonly string[] {
  return reads.flatMap((read) => {
    const { field, path, ifNothing, ifOthers } = read;
    const found = foundAt(read, tools, budget);
    if (found === 'fitting') return [];
    const [effect, text] =
      found === 'nothing' ? [ifNothing, unknownPathText(path, tools, 'wide')] : ifOthers;
    return [`\`${field}\` is \`${path.join('.')}\`, so ${effect}: ${text}`];
  });
}

/** Whether some tool may have a value of these kinds, only values of others, or nothing. */
function foundAt(
  { path, kinds }: ReadPath,
  tools: readonly LookedAtTool[],
  budget: { left: number },
): 'fitting' | 'others' | 'nothing' {
  let found: 'others' | 'nothing' = 'nothing';
  for (const tool of tools) {
    const steps = { left: budget.left, enums: new Map() };
    const fits = routesOf(tool, path, 'wide', steps).some((route) =>
      reaches(route, ({ view }) => {
        if (view === undefined) return false;
        found = 'others';
        return mayBe(view, kinds);
      }),
    );
    budget.left = steps.left - 1;
    // A search that was cut short has shown nothing.
    if (fits || budget.left < 0) return 'fitting';
  }
  return found;
}

function mayBe({ values, kinds: own }: View, kinds: ReadPath['kinds']): boolean {
  return values === undefined
    ? kinds.some((kind) => own.has(kind))
    : values.some((value) => kinds.some((kind) => kind === kindOf(value)));
}
