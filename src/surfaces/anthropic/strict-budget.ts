/** How many strict tools the Messages API takes in one request. */
import type { JsonObject, JsonValue } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';
import type { Listing, ShownTool, SurfaceWarning } from '../shared/listing.ts';

/** The limits for all strict tools of a request together. */
const allowed = { tools: 20, optional: 24, unions: 16 };

/** The tools that are strict, and a warning for each for which the request has no room. */
export interface StrictBudget {
  readonly strict: ReadonlySet<string>;
  readonly warnings: readonly SurfaceWarning[];
}

const budgets = new WeakMap<Listing, StrictBudget>();

/** Strict tools in effective order, as many as a request takes. Counted once per listing. */
export function strictBudget(listing: Listing): StrictBudget {
  const known = budgets.get(listing);
  if (known !== undefined) return known;
  const left = { ...allowed };
  const strict = new Set<string>();
  const warnings: SurfaceWarning[] = [];
  for (const { name, tool, schema } of listing.shown.filter((one: ShownTool) => one.strict)) {
    const { optional, unions } = countOf(schema);
    if (left.tools < 1 || left.optional < optional || left.unions < unions) {
      const message =
        `Shown without strict tool use, because a request takes at most ${allowed.tools} strict ` +
        `tools, with ${allowed.optional} optional properties and ${allowed.unions} unions in all.`;
      warnings.push({ tool: tool.name, path: '', message });
      continue;
    }
    left.tools--;
    left.optional -= optional;
    left.unions -= unions;
    strict.add(name);
  }
  const budget = { strict, warnings };
  budgets.set(listing, budget);
  return budget;
}

function countOf(schema: JsonValue | undefined): { optional: number; unions: number } {
  const count = { optional: 0, unions: 0 };
  walk(schema);
  return count;

  function walk(value: JsonValue | undefined): void {
    if (!isJsonObject(value)) return;
    const { properties, required, items, anyOf, $defs, type } = value as JsonObject & {
      required?: readonly JsonValue[];
    };
    if (Array.isArray(anyOf) || Array.isArray(type)) count.unions++;
    if (isJsonObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        if (!required?.includes(name)) count.optional++;
        walk(property);
      }
    }
    walk(items);
    if (Array.isArray(anyOf)) for (const one of anyOf as readonly JsonValue[]) walk(one);
    if (isJsonObject($defs)) for (const one of Object.values($defs)) walk(one);
  }
}
