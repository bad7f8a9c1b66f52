/** Mutants of schemas and of what bounds a session that behave as the source does, or differ in speed alone. */
import { type Equivalent, same } from './equivalence.ts';

const noLoop = 'Speed alone: a schema without references has no circle, and this limit is none.';
const loops = 'if (targets.size > 0 || limits.expansion !== POSITIVE_INFINITY) refuseLoops(walk.seen, targets, dialect, limits.expansion);';
const sameValue = 'Speed alone: `readStandard` then comes to the same value.';
const standardValue = "if (result && Object.hasOwn(result, 'value') && (result as StandardResult).issues === undefined) return result as Validated;";

export const schema: readonly Equivalent[] = [
  ...[
    ['targets.size > 0', 'true'],
    ['>', '>='],
    ['targets.size > 0 || limits.expansion !== POSITIVE_INFINITY', 'true'],
    ['limits.expansion !== POSITIVE_INFINITY', 'true'],
  ].map(([was = '', becomes = '']) => same('src/schema/json-schema-check.ts', loops, was, becomes, noLoop)),
  same(
    'src/schema/gate.ts',
    'const copy = copyJson(schema, { maxDepth: maxNesting, maxValues: maxBytes, maxChars: 2 * maxBytes });',
    '2',
    '3',
    'Speed alone: what is copied beyond is found to have too many bytes.',
  ),
  same(
    'src/schema/bind.ts',
    'const compiled = this.#compiled ?? this.#compile();',
    'this.#compiled ?? this.#compile()',
    'this.#compile()',
    'Speed alone: the cache answers what it has compiled before.',
  ),
  same(
    'src/schema/bind.ts',
    'this.#validate = hasHostCode(schema) ? (next) => runWithPromises(schema, next, explain) : validate;',
    'hasHostCode(schema)',
    'true',
    'Speed alone: without code of the host a run with promises allowed comes to the same.',
  ),
  same('src/schema/bind.ts', standardValue, '(result as StandardResult).issues === undefined', 'false', sameValue),
  same('src/schema/bind.ts', standardValue, "result && Object.hasOwn(result, 'value') && (result as StandardResult).issues === undefined", 'false', sameValue),
  same(
    'src/surfaces/shared/approval-input.ts',
    'return (text.codePointAt(at - 1) ?? 0) > 0xffff;',
    '0',
    '1',
    'Where no character is, any number up to 0xffff says that none is halved.',
  ),
  same(
    'src/state/session-limits.ts',
    'if (session.inFlight === 0) return slots;',
    'session.inFlight === 0',
    'false',
    "Speed alone: none of the registry's calls is this session's then.",
  ),
];
