/** Hides the fields of a value that a schema or a path marks as secret. */
import { escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { type Budget, createBudget, spend, valueSteps, withinBudget } from './budget.ts';
import { cutText, looksLikeJson } from './json-text.ts';
import { compileSecretPaths } from './secret-paths.ts';
import { createStates, type SecretState, type SecretStates } from './secret-states.ts';
import type { Secrets } from './secrets.ts';
import { redacted } from './spellings.ts';

/**
 * Finds and hides the secret fields of values that follow one schema. Values need not be valid: a
 * field that might be secret is hidden. A value that needs more steps than its budget has is hidden
 * whole, never in part.
 */
export interface Redactor {
  /**
   * A copy with every secret field replaced by {@link redacted}. Returns the same reference if
   * there is none.
   * @param into also receives the secret texts
   */
  redact(value: JsonValue, budget?: Budget, into?: Secrets): JsonValue;
  /**
   * Adds every secret text in secret fields: strings of 4 characters or more, numbers of 6 digits
   * or more.
   */
  collect(value: JsonValue, into: Secrets, budget?: Budget): void;
  /**
   * The redacted copy with the JSON pointers of what it hides, in the order of the value; `""` is
   * the whole value. Undefined when the budget is exceeded.
   * @param exact keeps a text that is not JSON where the schema expects an object, so that a person
   * who judges the value sees it as it was written
   */
  show(value: JsonValue, exact: boolean, budget?: Budget): Shown | undefined;
}

export interface Shown {
  readonly value: JsonValue;
  readonly fields: readonly string[];
}

/** One walk over a value. */
interface Walk {
  readonly states: SecretStates;
  /** Keys that are secret at any depth. */
  readonly anyDepth: ReadonlySet<string>;
  readonly budget: Budget;
  readonly exact: boolean;
  readonly into: Secrets | undefined;
  readonly fields: string[] | undefined;
  readonly path: (string | number)[];
  /** Looks for secrets and leaves the value unchanged. */
  readonly onlyLooks: boolean;
}

/**
 * Makes a redactor from a schema's marks (`"x-secret": true` or `"secret": true` on a sub-schema)
 * and from paths. Undefined if neither marks anything. A path without a dot names a key at any
 * depth (`"password"`). A dotted path starts at the root of the value (`"auth.token"`), `*` in it
 * matches any one key or index, and it also enters arrays that it does not mention. `"*"` alone
 * marks every field. Matching is case-sensitive. Where it is unclear which part of a schema applies
 * to a field, any mark that could apply hides it. A marked object hides everything in it.
 * @throws MisuseError `invalid_option` for a blank path or one with an empty part
 */
export function createRedactor(
  schema: JsonObject | boolean | undefined,
  paths: readonly string[],
): Redactor | undefined {
  const map = compileSecretPaths(schema, paths);
  if (map === undefined) return undefined;
  const { anyDepth } = map;
  const states = createStates(map.root);
  const start = (budget: Budget, options: Partial<Walk>): Walk => ({
    states,
    anyDepth,
    budget,
    exact: false,
    into: undefined,
    fields: undefined,
    path: [],
    onlyLooks: false,
    ...options,
  });
  return Object.freeze<Redactor>({
    redact: (value, budget = createBudget(), into) =>
      withinBudget(
        () => copy(value, states.root(budget), start(budget, { into })),
        () => {
          into?.lose();
          return redacted;
        },
      ),
    collect: (value, into, budget = createBudget()) =>
      withinBudget(
        () => void copy(value, states.root(budget), start(budget, { into, onlyLooks: true })),
        () => into.lose(),
      ),
    show: (value, exact, budget = createBudget()) =>
      withinBudget(
        () => {
          const fields: string[] = [];
          const shown = copy(value, states.root(budget), start(budget, { exact, fields }));
          return { value: shown, fields };
        },
        () => undefined,
      ),
  });
}

function copy(value: JsonValue, state: SecretState, walk: Walk): JsonValue {
  spend(walk.budget, valueSteps);
  if (state.marked) return hide(value, walk);
  if (typeof value === 'string') return copyText(value, state, walk);
  if (typeof value !== 'object' || value === null || !mayHoldSecrets(state, walk)) return value;
  return Array.isArray(value)
    ? copyArray(value, state, walk)
    : copyObject(value as JsonObject, state, walk);
}

function mayHoldSecrets(state: SecretState, { anyDepth }: Walk): boolean {
  return state.deep || anyDepth.size > 0;
}

function copyArray(array: readonly JsonValue[], state: SecretState, walk: Walk): JsonValue {
  let changed: JsonValue[] | undefined;
  for (let index = 0; index < array.length; index++) {
    const item = array[index] as JsonValue;
    walk.path.push(index);
    const kept = copy(item, walk.states.item(state, index, walk.budget), walk);
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
    const kept = walk.anyDepth.has(key)
      ? hide(item, walk)
      : copy(item, walk.states.child(state, key, walk.budget), walk);
    walk.path.pop();
    if (kept === item) continue;
    // The copy already has the key as its own, so that writing `__proto__` sets no prototype.
    changed ??= { ...object } as Record<string, JsonValue>;
    changed[key] = kept;
  }
  return changed ?? object;
}

/** The fields of JSON that was sent as text are hidden as well. */
function copyText(text: string, state: SecretState, walk: Walk): JsonValue {
  if (!mayHoldSecrets(state, walk) || !looksLikeJson(text)) return text;
  const { states, anyDepth, budget, into, fields, path } = walk;
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
