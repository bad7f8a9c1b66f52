/** The origins of one call's values, for its rules, its questions and `explain`. */

import type { JudgedOrigin, KnownContainers, Origin, Role } from '../../api/origins.ts';
import type { Call, FoundCall } from '../../core/call/call.ts';
import { isSameJson, plainJson } from '../../core/call/plain-json.ts';
import { Slot } from '../../core/slot.ts';
import type { JsonObject, JsonPrimitive, JsonValue } from '../../values/json/index.ts';
import { unreadValue } from './judge.ts';
import type { LabelNode } from './labels.ts';
import { type InputRoles, isContentName, isFixed } from './roles.ts';
import type { SessionOrigins } from './session-origins.ts';
import { ofSession } from './session-port.ts';
import { labelsOf } from './tool-labels.ts';

/**
 * Steps that a rule spends on one value whose origin is looked up, and on each of its characters.
 */
const valueSteps = 150;
const charSteps = 2;
/** What all lookups for one call may cost together, in steps of the record. */
const lookupSteps = 400_000;

/** The judged values, and what they were judged by. */
interface Known {
  readonly version: number;
  readonly canonical: JsonObject;
  readonly parsed: unknown;
  readonly judged: readonly JudgedOrigin[];
}

export const ofCall = new Slot<CallOrigins>();

/** The origins of a call's values. Undefined if its session remembers nothing. */
export function originsOf(call: FoundCall): CallOrigins | undefined {
  const origins = ofSession.of(call.session);
  if (origins === undefined) return undefined;
  const { more } = call;
  let known = ofCall.of(more);
  if (known === undefined) {
    known = new CallOrigins(call, origins);
    ofCall.set(more, known);
  }
  return known;
}

/** The same, if a rule or a question has needed them. */
export function knownOrigins({ extra }: Call): CallOrigins | undefined {
  return extra === undefined ? undefined : ofCall.of(extra);
}

/** Judges on first use, and again when the call or the record has changed. */
export class CallOrigins implements OriginJudge {
  readonly #call: FoundCall;
  readonly #session: SessionOrigins;
  readonly #known = new Map<string, Known>();
  /** The last judgement, even if the session has learnt more since then. */
  last: readonly JudgedOrigin[] | undefined;
  /** A rule has asked about the value at one place. */
  #wasAsked = false;
  readonly #steps = { left: lookupSteps };

  constructor(call: FoundCall, session: SessionOrigins) {
    this.#call = call;
    this.#session = session;
  }

  all(containers: KnownContainers, spend: Spend): readonly JudgedOrigin[] {
    const judged = this.judged(containers);
    spend(judged.length + 1);
    return judged;
  }

  /** Everything that is judged of the input, and whatever else is judged of the parsed value. */
  judged({ paths = false, hosts = false }: KnownContainers = {}): readonly JudgedOrigin[] {
    const { canonical, parsed } = this.#call;
    const { version } = this.#session;
    const key = `${paths} ${hosts}`;
    const known = this.#known.get(key);
    if (
      known !== undefined &&
      known.version === version &&
      known.canonical === canonical &&
      known.parsed === parsed
    )
      return known.judged;
    const judged =
      paths || hosts ? this.#session.within(this.judged(), { paths, hosts }) : this.#judge();
    this.#known.set(key, { version, canonical, parsed, judged });
    this.last = judged;
    return judged;
  }

  #judge(): readonly JudgedOrigin[] {
    const { canonical, parsed, binding } = this.#call;
    const { roles } = labelsOf(binding);
    const judged = this.#session.judge(canonical, roles);
    if (parsed === undefined || parsed === canonical) return judged;
    const other = plainJson(parsed);
    // A value that cannot be read has no known origin.
    if (other === undefined) {
      const origin = this.#session.unsearched;
      return [...judged, { path: '', value: unreadValue, role: 'target', origin }];
    }
    if (isSameJson(canonical, other)) return judged;
    const keyOf = ({ path, value }: JudgedOrigin): string => JSON.stringify([path, value]);
    const known = new Set(judged.map(keyOf));
    const more = this.#session.judge(other, roles);
    return [...judged, ...more.filter((one) => !known.has(keyOf(one)))];
  }

  /** Judges everything if a rule has asked about a part, for observers that record the verdict. */
  completeForTelling(): void {
    if (this.#wasAsked && this.last === undefined) this.judged();
  }

  at(path: readonly string[], spend: Spend): OriginsOf {
    this.#wasAsked = true;
    const { roles } = labelsOf(this.#call.binding);
    let place = roles.fields.root;
    let role = place.label;
    for (const name of path) {
      place = roles.fields.child(place, /^(?:\*|\d{1,10})$/.test(name) ? Number(name) || 0 : name);
      role = place.label ?? role;
    }
    const name = path.findLast((one) => !/^(?:\*|\d+)$/.test(one)) ?? '';
    const isText = role === 'content' || (role === undefined && isContentName(name));
    return (value) => {
      if (isText || typeof value === 'object') return this.#inside(value, path, roles, spend);
      return this.#whole(value as JsonPrimitive, place, spend);
    };
  }

  /**
   * A value that a rule names is judged whatever its role is, unless the schema fixes the value.
   */
  #whole(value: JsonPrimitive, place: LabelNode<Role>, spend: Spend): readonly Origin[] {
    spend(valueSteps + charSteps * String(value).length);
    if (typeof value === 'boolean' || isFixed(value, place)) return trusted;
    return [this.#session.originOf(value, this.#steps).origin];
  }

  /** The identifiers in a text, or the leaves of an object or array, each by its own role. */
  #inside(
    value: unknown,
    path: readonly string[],
    roles: InputRoles,
    spend: Spend,
  ): readonly Origin[] {
    if (value === null || value === undefined) return none;
    const inner = plainJson(value);
    if (inner === undefined) return [this.#session.unsearched];
    spend(valueSteps + charSteps * JSON.stringify(inner).length);
    const judged = this.#session.judge(nested(inner, path), roles);
    spend(judged.length * valueSteps);
    return judged.map(({ origin }) => origin);
  }
}

const none: readonly Origin[] = Object.freeze([]);
const trusted: readonly Origin[] = Object.freeze(['trusted']);

/** The value at its path in an otherwise empty input. */
function nested(value: JsonValue, path: readonly string[]): JsonValue {
  return path.reduceRight<JsonValue>(
    (inner, name) => (name === '*' ? [inner] : Object.fromEntries([[name, inner]])),
    value,
  );
}

/** The origins of one call's values. They are computed when a rule first asks. */
export interface OriginJudge {
  /**
   * Everything that is judged of the input and of what the schema made of it.
   * @param spend takes the steps that it costs; throws if there are not enough
   */
  all(containers: KnownContainers, spend: Spend): readonly JudgedOrigin[];
  /**
   * The origins of the values at one path: that of a target, those of the identifiers in a text, or
   * those of the leaves of an object or array.
   */
  at(path: readonly string[], spend: Spend): OriginsOf;
}

/** Takes steps from the budget of the rules. @throws overBudget */
type Spend = (steps: number) => void;

/** The origins of a value. Empty if there is nothing in it to judge. */
export type OriginsOf = (value: unknown) => readonly Origin[];
