/** Capabilities: what one end of a connection declares that it can do, as facts and as a check. */
import { describe, MisuseError } from './errors/index.ts';
import { isJsonObject, type JsonObject, type JsonPrimitive } from './json/index.ts';

/** The answer of {@link negotiate}. */
export interface Negotiation {
  /** Whether nothing is missing. */
  readonly ok: boolean;
  /** The needs that are not offered, in the order of the needs, each once. */
  readonly missing: readonly string[];
}

/**
 * Compares what one side needs with what the other one offers. A need is a name, dotted where it is
 * inside another: `elicitation.form`. An offer is a list of names, or an object as protocols
 * declare it, in which false, null and undefined mean that it is not offered. Only own properties
 * count.
 * @param needs Names of capabilities.
 * @param offered A list of names, or an object.
 * @throws MisuseError `invalid_option`
 *
 * @example
 * ```ts
 * import { negotiate } from 'host-tools';
 *
 * const client = { elicitation: { form: {} } };
 * const { ok, missing } = negotiate(['sampling', 'elicitation.form'], client);
 * // ok is false, and missing is ['sampling']
 * ```
 */
export function negotiate(
  needs: readonly string[],
  offered: Readonly<Record<string, unknown>> | readonly string[],
): Negotiation {
  const wanted = readNames(needs, 'needs');
  const list = Array.isArray(offered) ? new Set(readNames(offered, 'offered')) : undefined;
  if (list === undefined && (typeof offered !== 'object' || offered === null))
    throw wrong('offered', 'an object or an array of names', offered);
  const missing = [...new Set(wanted)].filter((need) =>
    list === undefined ? !offers(offered, need) : !list.has(need),
  );
  return Object.freeze({ ok: missing.length === 0, missing: Object.freeze(missing) });
}

function readNames(value: unknown, what: string): readonly string[] {
  if (!Array.isArray(value)) throw wrong(what, 'an array of names', value);
  for (const one of value as readonly unknown[])
    if (typeof one !== 'string' || one === '') throw wrong(what, 'non-empty strings', one);
  return value as readonly string[];
}

function wrong(what: string, expected: string, got: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `negotiate: expected \`${what}\` to be ${expected}, got ${describe(got)}.`,
  );
}

/** A name with dots may be a key by itself, or a path. */
function offers(offered: unknown, need: string): boolean {
  if (typeof offered !== 'object' || offered === null) return false;
  if (Object.hasOwn(offered, need)) return isOffered((offered as Record<string, unknown>)[need]);
  for (let dot = need.indexOf('.'); dot !== -1; dot = need.indexOf('.', dot + 1)) {
    const head = need.slice(0, dot);
    if (Object.hasOwn(offered, head))
      return offers((offered as Record<string, unknown>)[head], need.slice(dot + 1));
  }
  return false;
}

function isOffered(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** Most facts that are made of one declaration. */
const maxFacts = 64;
/** Most characters of a fact's key after the prefix, and of a level. */
const maxChars = 128;
const maxDepth = 4;
/** Most members that are read. */
const maxMembers = 1_000;

/**
 * The facts that follow from a declaration of another party, such as
 * `client.capabilities.sampling`. An object is `true`, and its members are facts of their own; a
 * level is a string or a number. Names that are not plain words, are too long or too many are left
 * out. All keys begin with the prefix, so a declaration cannot set a fact of the host.
 * @param prefix Such as `client.capabilities.`, with the dot.
 */
export function capabilityFacts(prefix: string, declared: unknown): JsonObject {
  const facts = new Map<string, JsonPrimitive>();
  let level: readonly (readonly [path: string, object: JsonObject])[] = isJsonObject(declared)
    ? [['', declared]]
    : [];
  let looked = 0;
  // Level by level, so that many members of one capability do not displace another.
  for (let depth = 1; depth <= maxDepth && level.length > 0; depth++) {
    const next: (readonly [path: string, object: JsonObject])[] = [];
    for (const [start, object] of level)
      for (const name of Object.keys(object)) {
        if (++looked > maxMembers || facts.size >= maxFacts) return Object.fromEntries(facts);
        const path = start + name;
        const value = object[name];
        const fact = levelOf(value);
        if (fact === undefined || path.length > maxChars || !isPlain(name)) continue;
        facts.set(prefix + path, fact);
        if (isJsonObject(value)) next.push([`${path}.`, value]);
      }
    level = next;
  }
  return Object.fromEntries(facts);
}

function isPlain(name: string): boolean {
  return name.length <= maxChars && /^[A-Za-z0-9_][A-Za-z0-9_/:-]*$/.test(name);
}

/** Undefined if it is not offered. */
function levelOf(value: unknown): JsonPrimitive | undefined {
  if (typeof value === 'string') return value.length <= maxChars ? value : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return value === true || (typeof value === 'object' && value !== null) ? true : undefined;
}
