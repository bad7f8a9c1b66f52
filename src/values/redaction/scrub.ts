/** Removes secret texts from what others may read. */
import type { JsonObject, JsonValue } from '../json/index.ts';
import { type Budget, createBudget, spend, valueSteps, withinBudget } from './budget.ts';
import type { Secrets } from './secrets.ts';
import { redacted } from './spellings.ts';

/**
 * Replaces every occurrence of every secret, in any of its {@link spellings}, by {@link redacted}.
 * Secrets that overlap in the text are hidden together, so that none leaves a remainder. A text
 * that exceeds the budget is replaced whole.
 */
export function redactText(
  text: string,
  secrets: Secrets,
  budget: Budget = createBudget(),
): string {
  if (secrets.none) return text;
  return withinBudget(
    () => cut(text, secrets, budget),
    () => redacted,
  );
}

/**
 * The value without secrets in any text, number or key; {@link redacted} if it exceeds the budget.
 * Parts that hold no secret are shared with the original.
 */
export function scrubStrings(
  value: JsonValue,
  secrets: Secrets,
  budget: Budget = createBudget(),
): JsonValue {
  return withinBudget(
    () => (secrets.none ? value : copy(value, secrets, budget)),
    () => redacted,
  );
}

/**
 * Whether the text contains a secret. Also true if that cannot be decided within the budget.
 */
export function holdsSecret(text: string, secrets: Secrets): boolean {
  if (secrets.none) return false;
  return withinBudget(
    () => secrets.find(text, createBudget()) !== undefined,
    () => true,
  );
}

function copy(value: JsonValue, secrets: Secrets, budget: Budget): JsonValue {
  spend(budget, valueSteps);
  if (typeof value === 'string') return cut(value, secrets, budget);
  if (typeof value === 'number') {
    const text = String(value);
    const kept = cut(text, secrets, budget);
    return kept === text ? value : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? copyArray(value, secrets, budget)
    : copyObject(value as JsonObject, secrets, budget);
}

function copyArray(array: readonly JsonValue[], secrets: Secrets, budget: Budget): JsonValue {
  let changed: JsonValue[] | undefined;
  for (let index = 0; index < array.length; index++) {
    const item = array[index] as JsonValue;
    const kept = copy(item, secrets, budget);
    if (kept === item) continue;
    changed ??= [...array];
    changed[index] = kept;
  }
  return changed ?? (array as JsonValue[]);
}

function copyObject(object: JsonObject, secrets: Secrets, budget: Budget): JsonValue {
  const keys = Object.keys(object);
  if (keys.some((key) => cut(key, secrets, budget) !== key)) {
    // fromEntries defines own properties, `__proto__` included.
    return Object.fromEntries(
      keys.map((key) => [
        cut(key, secrets, budget),
        copy(object[key] as JsonValue, secrets, budget),
      ]),
    );
  }
  let changed: Record<string, JsonValue> | undefined;
  for (const key of keys) {
    const item = object[key] as JsonValue;
    const kept = copy(item, secrets, budget);
    if (kept === item) continue;
    // The copy already has the key as its own, so that writing `__proto__` sets no prototype.
    changed ??= { ...object } as Record<string, JsonValue>;
    changed[key] = kept;
  }
  return changed ?? object;
}

function cut(text: string, secrets: Secrets, budget: Budget): string {
  const lengths = secrets.find(text, budget);
  if (lengths === undefined) return text;
  let out = '';
  let done = 0;
  for (let start = 0; start < text.length; start++) {
    if (lengths[start] === 0) continue;
    let end = start + (lengths[start] as number);
    for (let at = start + 1; at < end; at++) end = Math.max(end, at + (lengths[at] as number));
    out += text.slice(done, start) + redacted;
    done = end;
    start = end - 1;
  }
  return done === 0 ? text : out + text.slice(done);
}
