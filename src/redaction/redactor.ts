/** Hides the fields of a value that a schema or a path marks as secret. */
import { escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { type Budget, createBudget, spend, valueSteps, withinBudget } from './budget.ts';
import { cutText, looksLikeJson } from './json-text.ts';
import { compileSecretPaths } from './secret-paths.ts';
import { createStates, type SecretState } from './secret-states.ts';
import type { Secrets } from './secrets.ts';
import { redacted } from './spellings.ts';

/**
 * Finds and hides the secret fields of values that follow one schema. Values need not be valid:
 * what cannot be told apart is hidden. Nothing is ever done by halves: a value that takes more
 * steps than its budget has is hidden as a whole.
 */
export interface Redactor {
  /**
   * A copy with every secret field replaced by {@link redacted}; the same reference when there was
   * none.
   * @param into Gets the secret texts as well.
   */
  redact(value: JsonValue, budget?: Budget, into?: Secrets): JsonValue;
  /**
   * Adds every secret text below secret fields: strings of 4 characters or more, numbers of 6
   * digits or more.
   */
  collect(value: JsonValue, into: Secrets, budget?: Budget): void;
  /**
   * The redacted copy with the JSON pointers of what it hides, in the value's order; `""` is the
   * whole value. Undefined when it is over the budget.
   * @param exact Hides no text for not being JSON where the schema wanted an object: whoever has to
   * judge the value sees it as it was written.
   */
  show(value: JsonValue, exact: boolean, budget?: Budget): Shown | undefined;
}

export interface Shown {
  readonly value: JsonValue;
  readonly fields: readonly string[];
}

/** One walk over a value. */
interface Walk {
  readonly budget: Budget;
  readonly exact: boolean;
  readonly into: Secrets | undefined;
  readonly fields: string[] | undefined;
  readonly path: (string | number)[];
  /** Only looks for secrets, and leaves the value as it is. */
  readonly onlyLooks: boolean;
}

/**
 * Makes a redactor from a schema's marks (`"x-secret": true` or `"secret": true` on a sub-schema)
 * and from paths. Undefined when neither marks anything. A path without a dot names a key at any
 * depth (`"password"`). A dotted path starts at the value's root (`"auth.token"`), `*` in it is any
 * one key or index, and it also reaches into arrays that it does not mention. `"*"` alone is every
 * field. Matching is case-sensitive. Where it is unclear which part of a schema a field follows,
 * any mark that could apply hides it; a marked object hides everything beneath it.
 * @throws MisuseError `invalid_option` for a blank path or one with an empty part.
 */
export function createRedactor(
  schema: JsonObject | boolean | undefined,
  paths: readonly string[],
): Redactor | undefined {
  const map = compileSecretPaths(schema, paths);
  if (map === undefined) return undefined;
  const { anyDepth } = map;
  const states = createStates(map.root);

  function copy(value: JsonValue, state: SecretState, walk: Walk): JsonValue {
    spend(walk.budget, valueSteps);
    if (state.marked) return hide(value, walk);
    if (typeof value === 'string') return copyText(value, state, walk);
    // Where nothing can be secret there is nothing to look at.
    if (typeof value !== 'object' || value === null || (!state.deep && anyDepth.size === 0))
      return value;
    return Array.isArray(value)
      ? copyArray(value, state, walk)
      : copyObject(value as JsonObject, state, walk);
  }

  function copyArray(array: readonly JsonValue[], state: SecretState, walk: Walk): JsonValue {
    let changed: JsonValue[] | undefined;
    for (let index = 0; index < array.length; index++) {
      const item = array[index] as JsonValue;
      walk.path.push(index);
      const kept = copy(item, states.item(state, index, walk.budget), walk);
      walk.path.pop();
      if (kept === item) continue;
      changed ??= [...array];
      changed[index] = kept;
    }
    return changed ?? (array as JsonValue[]);
  }

  function copyObject(object: JsonObject, state: SecretState, walk: Walk): JsonValue {
    let changed: Record<string, JsonValue> | undefined;
    for (const key of Object.keys(object)) {
      const item = object[key] as JsonValue;
      walk.path.push(key);
      const kept = anyDepth.has(key)
        ? hide(item, walk)
        : copy(item, states.child(state, key, walk.budget), walk);
      walk.path.pop();
      if (kept === item) continue;
      // The copy has the key as its own, so that writing `__proto__` sets no prototype.
      changed ??= { ...object } as Record<string, JsonValue>;
      changed[key] = kept;
    }
    return changed ?? object;
  }

  /** JSON that was sent as text: its fields are fields all the same. */
  function copyText(text: string, state: SecretState, walk: Walk): JsonValue {
    if ((!state.deep && anyDepth.size === 0) || !looksLikeJson(text)) return text;
    const { budget, into, fields, path } = walk;
    const cut = cutText(text, state, {
      states,
      anyDepth,
      budget,
      hidden:
        fields === undefined ? undefined : (below) => fields.push(pointerOf([...path, ...below])),
      found:
        into === undefined
          ? undefined
          : (kind, found) => (kind === 'string' ? into.addText(found) : into.addNumber(found)),
    });
    if (!cut.isJson && state.structured && !walk.exact) return hide(text, walk);
    return walk.onlyLooks ? text : cut.text;
  }

  function hide(value: JsonValue, walk: Walk): JsonValue {
    if (walk.into !== undefined) collectTexts(value, walk.into, walk.budget);
    if (walk.fields !== undefined) {
      spend(walk.budget, walk.path.length * valueSteps);
      walk.fields.push(pointerOf(walk.path));
    }
    return walk.onlyLooks ? value : redacted;
  }

  return Object.freeze<Redactor>({
    redact: (value, budget = createBudget(), into) =>
      withinBudget(
        () =>
          copy(value, states.root(budget), {
            budget,
            exact: false,
            into,
            fields: undefined,
            path: [],
            onlyLooks: false,
          }),
        () => {
          into?.lose();
          return redacted;
        },
      ),
    collect: (value, into, budget = createBudget()) =>
      withinBudget(
        () =>
          void copy(value, states.root(budget), {
            budget,
            exact: false,
            into,
            fields: undefined,
            path: [],
            onlyLooks: true,
          }),
        () => into.lose(),
      ),
    show: (value, exact, budget = createBudget()) =>
      withinBudget(
        () => {
          const fields: string[] = [];
          const shown = copy(value, states.root(budget), {
            budget,
            exact,
            into: undefined,
            fields,
            path: [],
            onlyLooks: false,
          });
          return { value: shown, fields };
        },
        () => undefined,
      ),
  });
}

function pointerOf(path: readonly (string | number)[]): string {
  return path.map((part) => `/${escapePointer(String(part))}`).join('');
}

function collectTexts(value: JsonValue, into: Secrets, budget: Budget): void {
  spend(budget, valueSteps);
  if (typeof value === 'string') into.addText(value);
  else if (typeof value === 'number') into.addNumber(JSON.stringify(value));
  else if (Array.isArray(value))
    for (const item of value) collectTexts(item as JsonValue, into, budget);
  else if (isJsonObject(value))
    for (const key of Object.keys(value)) collectTexts(value[key] as JsonValue, into, budget);
}
