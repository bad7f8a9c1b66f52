/** Whether the paths of a quota, `sum` and `by`, lead to something that it can count. */

import type { Kind } from '../../values/json-schema/inclusion-values.ts';
import { kindOf } from '../../values/json-schema/inclusion-values.ts';
import type { View } from '../../values/json-schema/inclusion-view.ts';
import { type LookedAtTool, routesOf } from '../rule-review/condition.ts';
import { reaches } from '../rule-review/reach.ts';
import { unknownPathText } from '../rule-review/words.ts';
import type { CompiledQuota } from './quota.ts';

const numbers: readonly Kind[] = ['integer', 'fraction'];
const names: readonly Kind[] = ['string', 'boolean', ...numbers];

/** What is wrong with the paths of a quota; empty if nothing is, as far as is known. */
export function quotaPathFaults(
  { sum, paths }: CompiledQuota,
  tools: readonly LookedAtTool[],
  budget: { left: number },
): readonly string[] {
  const faults: string[] = [];
  const add = (field: string, effect: string, path: readonly string[], text: string): void =>
    void faults.push(`\`${field}\` is \`${path.join('.')}\`, so ${effect}: ${text}`);
  if (sum !== undefined) {
    const found = foundAt(sum, tools, numbers, budget);
    if (found === 'nothing')
      add('sum', 'nothing is added up', sum, unknownPathText(sum, tools, 'wide'));
    if (found === 'others')
      add('sum', 'every call with a value there is refused', sum, 'it is never a number');
  }
  for (const path of paths) {
    const found = foundAt(path, tools, names, budget);
    if (found === 'nothing')
      add('by', 'every call is refused', path, unknownPathText(path, tools, 'wide'));
    if (found === 'others')
      add('by', 'every call is refused', path, 'it is never a text, a number or a boolean');
  }
  return faults;
}

/** Whether some tool may have a value of these kinds, only values of others, or nothing. */
function foundAt(
  path: readonly string[],
  tools: readonly LookedAtTool[],
  kinds: readonly Kind[],
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

function mayBe({ values, kinds: own }: View, kinds: readonly Kind[]): boolean {
  return values === undefined
    ? kinds.some((kind) => own.has(kind))
    : values.some((value) => kinds.includes(kindOf(value)));
}
