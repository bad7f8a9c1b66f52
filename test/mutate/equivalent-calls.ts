/** Of the stages of a call: mutants that behave as the source does, or differ in speed alone. */
import { type Equivalent, same } from './equivalence.ts';

const exemplars = 'src/call/exemplars.ts';
const strictNulls = 'src/call/strict-nulls.ts';
const secrets = 'src/call/call-secrets.ts';
const spine = 'src/call/spine.ts';
const validate = 'src/call/stages/validate.ts';

const noCall = 'Speed alone: an exemplar is never called; any fraction gives its fields the shape that they have in calls.';
const noneToFind = 'Speed alone: a session without calls in flight has none in the list.';
const exactCount = 'Speed alone: the exact count follows.';
const setByAdd = '`Deadlines.add` sets it before it is read.';
const readAgain = 'Speed alone: the schema is then read again.';
const equalCopy = 'Speed alone: an equal copy takes the place of what was not mended.';
const noMarks = 'Speed alone: a tool that is not secretive has no redactor to collect by.';
const sameValues = 'Speed alone: the parse of a raw schema is the canonical input, whose secrets were collected before.';
const nothingToTake = 'Speed alone: there is nothing to wait for, and nothing to take.';
const anyNegative = 'Every number below 0 says the same.';

const noneGoesSoFarBack = 'A call goes back to its approval at most, which is step 3.';

const writeVerdicts = 'if (whole) for (const [one, said] of read) if (said !== undefined) known.set(one, said);';
const writeVerdict = 'if (verdict !== undefined && isJsonObject(schema)) known.set(schema, verdict);';
const acquireLine = 'if (from <= acquireStep && (call.binding?.isBounded === true || call.options?.resourceKey !== undefined)) {';
const copyLine = 'if (call.session.hooks.length > 0) call.canonical = cloneJson(call.canonical);';
const threwLine = 'if (call.session.hooks.length > 0) return shapeOn(call, { ok: false, error }, undefined);';

export const calls: readonly Equivalent[] = [
  ...['call.startedAt = 0.5;', 'call.dlAt = 0.5;'].flatMap((line) => [same(exemplars, line, line, ';', noCall), same(exemplars, line, '0.5', '1.5', noCall)]),
  same('src/call/ids-in-flight.ts', 'if (session.inFlight > 0)', 'session.inFlight > 0', 'true', noneToFind),
  same('src/call/ids-in-flight.ts', 'if (session.inFlight > 0)', '>', '>=', noneToFind),
  same(
    'src/call/handler-context.ts',
    'if (!copy.ok || copy.overflow || (copy.size * 6 > maxEventChars && Buffer.byteLength(JSON.stringify(copy.value)) > maxEventChars)) {',
    '6',
    '7',
    exactCount,
  ),
  same(
    'src/call/in-policy-time.ts',
    'const tooSlow: Validated = Object.freeze({',
    "Object.freeze({\n  issues: Object.freeze([Object.freeze({ path: '', message: 'validation did not answer in time; correct the schema' })]),\n  fault: undefined,\n})",
    "({\n  issues: Object.freeze([Object.freeze({ path: '', message: 'validation did not answer in time; correct the schema' })]),\n  fault: undefined,\n})",
    'Only its issues leave the library, and those stay frozen.',
  ),
  ...[
    ['text.length <= maxChars', 'false'],
    ['<=', '<'],
  ].map(([was = '', becomes = '']) =>
    same(
      'src/text/shortened.ts',
      'return text.length <= maxChars ? text : detached(text.slice(0, maxChars));',
      was,
      becomes,
      'Speed alone: a copy of the same text.',
    ),
  ),
  same('src/call/output-snapshot.ts', 'export const mostCharsEach = 12;', '12', '13', 'Speed alone: the text is then written, and its length decides.'),
  same(
    'src/call/output-snapshot.ts',
    "if (kind === 'string' || kind === 'boolean' || (kind === 'number' && Number.isFinite(value))) return whole(value === 0 ? 0 : value);",
    "kind === 'boolean'",
    'false',
    'Speed alone: the copy of a plain value is that value.',
  ),
  same(secrets, 'if (!binding.secretive) return;', '!binding.secretive', 'false', noMarks),
  same(secrets, 'if (!binding.secretive) return;', 'return;', ';', noMarks),
  same(secrets, "if (input.kind === 'json') return;", "input.kind === 'json'", 'false', sameValues),
  same(secrets, "if (input.kind === 'json') return;", 'return;', ';', sameValues),
  same(
    secrets,
    'if (binding.secretive) collect(call, binding.entry.outputRedactor(call.session.registry.redact), output as JsonValue);',
    'binding.secretive',
    'true',
    noMarks,
  ),
  same(
    'src/call/end-call.ts',
    'const grace = { expire: () => release(call), dlPrev: undefined, dlNext: undefined, dlAt: 0, dlList: undefined };',
    '0',
    '1',
    setByAdd,
  ),
  same('src/call/stages/acquire.ts', 'dlAt: 0,', '0', '1', setByAdd),
  same('src/call/stages/run.ts', 'dlAt: 0,', '0', '1', setByAdd),
  same(
    'src/call/stages/run.ts',
    'const { setImmediate: soon = (run: () => void) => setTimeout(run, 0) } = globalThis;',
    '0',
    '1',
    'Speed alone, and only where there is no `setImmediate`; Node has one.',
  ),
  same(
    'src/call/stages/after-hooks.ts',
    'const hooks = call.session.hooks.filter((hook) => hook.after !== undefined).reverse();',
    'hook.after !== undefined',
    'true',
    'Speed alone: a hook without `after` answers nothing, which changes nothing.',
  ),
  same('src/call/settle.ts', threwLine, 'call.session.hooks.length > 0', 'true', 'Speed alone: without hooks the long way changes nothing.'),
  same('src/call/settle.ts', threwLine, '>', '>=', 'Speed alone: without hooks the long way changes nothing.'),
  same(
    strictNulls,
    "if (typeof value !== 'object' || value === null || place === undefined) return value;",
    "typeof value !== 'object'",
    'false',
    'The compiler cannot see it: only objects, lists and null come here.',
  ),
  same(
    strictNulls,
    'member.dropsNull ??= !required.has(name) && ![...member.schemas].some(asValue);',
    '??=',
    '=',
    'Speed alone: it is worked out again, from the same schemas.',
  ),
  same(strictNulls, writeVerdicts, 'whole', 'false', readAgain),
  same(strictNulls, writeVerdicts, 'said !== undefined', 'false', readAgain),
  same(strictNulls, writeVerdicts, 'known.set(one, said);', ';', readAgain),
  same(strictNulls, writeVerdict, 'verdict !== undefined && isJsonObject(schema)', 'false', readAgain),
  same(strictNulls, writeVerdict, 'verdict !== undefined', 'false', readAgain),
  same(strictNulls, writeVerdict, 'known.set(schema, verdict);', ';', readAgain),
  ...['items.some((item, index) => item !== value[index])', 'item !== value[index]'].map((was) =>
    same(validate, 'return items.some((item, index) => item !== value[index]) ? items : value;', was, 'true', equalCopy),
  ),
  same(validate, 'if (after === before) continue;', 'after === before', 'false', equalCopy),
  same(validate, 'if (after === before) continue;', 'continue;', ';', equalCopy),
  same(spine, 'const recheckStep = 5;', '5', '6', 'Every number above that of the step before it leads there.'),
  same(spine, 'return -1;', '1', '2', anyNegative),
  same(spine, 'call.goto = -1;', '1', '2', anyNegative),
  ...['if (call.goto >= 0) return takeGoto(call);', 'advance(call, call.goto >= 0 ? takeGoto(call) : next);'].flatMap((line) => [
    same(spine, line, '>=', '>', noneGoesSoFarBack),
    same(spine, line, '0', '1', noneGoesSoFarBack),
  ]),
  same(
    spine,
    'if (missing !== undefined || call.ended || call.session.hooks.length === 0) return missing;',
    'call.session.hooks.length === 0',
    'false',
    'Speed alone: without hooks `before` only collects secrets, which validation does again.',
  ),
  ...['call.binding?.isBounded === true', 'call.options?.resourceKey !== undefined'].map((was) => same(spine, acquireLine, was, 'true', nothingToTake)),
  same(spine, copyLine, 'call.session.hooks.length > 0', 'true', 'Speed alone: a copy that no hook reads.'),
  same(spine, copyLine, '>', '>=', 'Speed alone: a copy that no hook reads.'),
];
