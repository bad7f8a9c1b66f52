/** The tests of a rule that ask where a value came from. */

import type { JudgedOrigin, KnownContainers, Origin } from '../../api/origins.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { type Judged, type Reading, takeSteps } from '../../core/rules/rule.ts';
import type { Check, CompileKey, CompilePart, TestedPlace } from '../../core/rules/rule-check.ts';
import { absent, noElement } from '../../core/rules/scalar-tests.ts';
import { Slot } from '../../core/slot.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { type OriginJudge, type OriginsOf, originsOf } from './call-origins.ts';
import { unreadValue } from './judge.ts';
import { looksLikeUrl } from './plain-url.ts';

const origins: readonly Origin[] = ['user', 'trusted', 'untrusted', 'unknown'];
const words = origins.map((origin) => `\`${origin}\``).join(', ');

/** If nothing is remembered, every value is unknown. */
const unknown: readonly Origin[] = Object.freeze(['unknown']);
const allUnknown: OriginsOf = () => unknown;

/**
 * `origin` in a test. A `deny` or `ask` matches if one of the values has such an origin, an `allow`
 * only if all of them do; inside `not`, it is the reverse.
 */
export const compileOrigin: CompilePart = (operand, field, comparison, check) => {
  const wanted = readOrigins(operand, field, check);
  const isWanted = (origin: Origin): boolean => wanted.has(origin);
  return {
    judge: (value, _whole, _facts, place) => {
      if (value === noElement) return undefined;
      if (value === absent) return false;
      const found = originsAt(place)(value);
      return comparison === 'loose' ? found.some(isWanted) : found.every(isWanted);
    },
    cost: 0,
    steps: 1,
    writesNumbers: false,
    ofArguments: ['origin'],
  };
};

const ofPlace = new Slot<OriginsOf>();

function originsAt(place: TestedPlace | undefined): OriginsOf {
  if (place === undefined) return allUnknown;
  let known = ofPlace.of(place);
  if (known === undefined) {
    const { path, judged } = place;
    known = judgeFor(judged)?.at(path, (steps) => takeSteps(judged, steps)) ?? allUnknown;
    ofPlace.set(place, known);
  }
  return known;
}

function judgeFor({ call }: Judged): OriginJudge | undefined {
  return call === undefined ? undefined : originsOf(call as FoundCall);
}

function readOrigins(value: JsonValue | undefined, field: string, check: Check): Set<Origin> {
  const list: readonly (JsonValue | undefined)[] = Array.isArray(value) ? value : [value];
  check(list.length > 0, field, `one of ${words}, or a list of at least one of them`, value);
  return new Set(
    list.map((item, index) => {
      const known = origins.find((origin) => origin === item);
      const place = Array.isArray(value) ? `${field}[${index}]` : field;
      check(known !== undefined, place, `one of ${words}`, item);
      return known;
    }),
  );
}

/** The member `origins` of a rule, compiled. */
interface OriginCondition {
  readonly of: ReadonlySet<Origin>;
  /** Only targets that are web addresses count. */
  readonly onlyUrls: boolean;
  readonly containers: KnownContainers;
}

const memberKeys = ['of', 'only', 'paths', 'hosts'];
const memberText =
  'an origin, a list of origins, or an object with `of` and some of only, paths, ' + 'hosts';

/** Compiles the member `origins`. */
export const compileOrigins: CompileKey = (value, reading, check) => {
  const condition = readCondition(value, check);
  return (judged) => originsHold(condition, reading, judged);
};

function readCondition(value: JsonValue, check: Check): OriginCondition {
  if (!isJsonObject(value))
    return {
      of: readOrigins(value, 'origins', check),
      onlyUrls: false,
      containers: { paths: false, hosts: false },
    };
  const stray = Object.keys(value).find((key) => !memberKeys.includes(key));
  check(stray === undefined, 'origins key', `one of ${memberKeys.join(', ')}`, stray);
  const own = (key: string): JsonValue | undefined =>
    Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
  const flag = (key: string): boolean => {
    const given = own(key);
    check(given === undefined || typeof given === 'boolean', `origins.${key}`, 'a boolean', given);
    return given === true;
  };
  const only = own('only');
  check(own('of') !== undefined, 'origins', memberText, value);
  check(only === undefined || only === 'urls', 'origins.only', 'left out or `urls`', only);
  return {
    of: readOrigins(own('of'), 'origins.of', check),
    onlyUrls: only === 'urls',
    containers: { paths: flag('paths'), hosts: flag('hosts') },
  };
}

/**
 * Whether the values of a call have such origins. A `deny` or `ask` matches if one of them does; an
 * `allow` only if there is one and all of them do.
 * @throws overBudget
 */
function originsHold(
  { of, onlyUrls, containers }: OriginCondition,
  reading: Reading,
  judged: Judged,
): boolean {
  // Without a record, no value is known.
  const origins = judgeFor(judged);
  if (origins === undefined) return reading === 'any' && of.has('unknown');
  const all = origins.all(containers, (steps) => takeSteps(judged, steps));
  const counted = onlyUrls ? all.filter(isUrlTarget) : all;
  return reading === 'any'
    ? counted.some(({ origin }) => of.has(origin))
    : counted.length > 0 && counted.every(({ origin }) => of.has(origin));
}

function isUrlTarget({ role, value }: JudgedOrigin): boolean {
  if (role !== 'target' || typeof value !== 'string') return false;
  // What cannot be read may be an address.
  return looksLikeUrl(value) || value === unreadValue;
}
