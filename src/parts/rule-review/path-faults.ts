/** Whether the paths at which a part reads the input lead to something that it can use. */

import type { ReadPath } from '../../core/rules/conditioned.ts';
import { kindOf } from '../../values/json-schema/inclusion-values.ts';
import type { View } from '../../values/json-schema/inclusion-view.ts';
import { type LookedAtTool, routesOf } from './condition.ts';
import { reaches } from './reach.ts';
import { unknownPathText } from './words.ts';

/** What is wrong with paths; empty if nothing is, as far as is known. */
export function pathFaults(
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
