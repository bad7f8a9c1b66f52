/** Mutants of the keywords of JSON Schema, and of what puts them together, that behave as the source does. */
import { type Equivalent, same } from './equivalence.ts';

const plainAgain = 'Speed alone: the member is then tested by a call.';
const marksAreDropped = 'Speed alone: `markOf` drops the marks where nobody asks for them.';
const compiledAgain = 'Speed alone: a pattern that stands in several places is then compiled for each.';
const plainLine = "return checks.length === 0 && cost === 0 && typeof type === 'string' ? type : undefined;";
const echoLine = "return message.includes('received') || message.includes('(was ') ? message.replace(echoes, '') : message;";

const inSet = 'Speed alone: plain values are found in a list and in a Set alike.';
const ownLine = 'if (item === undefined || ((polluted || inherited[index] === true) && !Object.hasOwn(object, names[index] as string))) {';
const fewLine = 'if (values.length <= 4) return (value, context) => (values as readonly unknown[]).includes(value) || fail(context, message);';
const numberLine =
  "if (tests.length === 1) return (value, context) => typeof value !== 'number' || first(value, context) || fail(context, messages[0] as string);";

export const keywords: readonly Equivalent[] = [
  same('src/schema/compile-keywords.ts', 'if (cost === 0) return inner;', 'cost === 0', 'false', 'Speed alone: a charge of 0 steps never ends a validation.'),
  ...['checks.length === 0', 'cost === 0', "typeof type === 'string'", "checks.length === 0 && cost === 0 && typeof type === 'string'"].map((was) =>
    same('src/schema/compile-keywords.ts', plainLine, was, 'false', plainAgain),
  ),
  same('src/schema/keywords-object.ts', "['boolean', 3],", '3', '4', plainAgain),
  same('src/schema/keywords-object.ts', 'case 3:', '3', '4', plainAgain),
  same('src/schema/keywords-object.ts', ownLine, 'inherited[index] === true', 'true', 'Speed alone: every member is then seen to be an own one.'),
  ...[
    ["values.every((value) => typeof value !== 'object' || value === null)", 'false'],
    ['||', '&&'],
    ['value === null', 'false'],
  ].map(([was = '', becomes = '']) =>
    same('src/schema/keywords-value.ts', "if (values.every((value) => typeof value !== 'object' || value === null)) {", was, becomes, inSet),
  ),
  ...[
    ['values.length === 1', 'false'],
    ['1', '2'],
  ].map(([was = '', becomes = '']) => same('src/schema/keywords-value.ts', 'if (values.length === 1) {', was, becomes, inSet)),
  ...[
    ['values.length <= 4', 'true'],
    ['values.length <= 4', 'false'],
    ['<=', '<'],
    ['<=', '>'],
    ['4', '5'],
  ].map(([was = '', becomes = '']) => same('src/schema/keywords-value.ts', fewLine, was, becomes, inSet)),
  same('src/schema/keywords-value.ts', numberLine, 'tests.length === 1', 'false', 'Speed alone: the one test is then asked in a loop.'),
  ...[
    ['<', '<='],
    ['-', '+'],
  ].map(([was = '', becomes = '']) =>
    same(
      'src/schema/keywords-value.ts',
      'for (let index = 0; index < text.length - 1; index++) {',
      was,
      becomes,
      'Beyond the end of a text is no unit that could be the second half of a pair.',
    ),
  ),
  same('src/schema/compile-node.ts', 'mark: build.checked.hasUnevaluated', 'build.checked.hasUnevaluated', 'true', marksAreDropped),
  same(
    'src/schema/compile-context.ts',
    'return context.issues === undefined ? 0 : context.issues.length;',
    '0',
    '1',
    '`under` does not look at the number where no issues are wanted.',
  ),
  same(
    'src/schema/compile-context.ts',
    'return false;',
    'false',
    'true',
    'Speed alone: each member is then seen to be an own one. (In `fail` this does not compile.)',
  ),
  same(
    'src/schema/compile-context.ts',
    'const bare: object = Object.freeze({});',
    'Object.freeze({})',
    '({})',
    'It never leaves its module, which changes nothing of it.',
  ),
  same(
    'src/schema/compile.ts',
    'const fill = checked.hasDefaults ? compileDefaults(document, { dialect: checked.dialect, target: (holder) => targets.get(holder) }) : undefined;',
    'checked.hasDefaults',
    'true',
    'Speed alone: without a default nothing is found that could be filled.',
  ),
  same('src/schema/compile-node.ts', 'if (pattern === undefined) {', 'pattern === undefined', 'true', compiledAgain),
  same('src/schema/compile-node.ts', 'patterns.set(source, pattern);', 'patterns.set(source, pattern);', ';', compiledAgain),
  ...[
    ['context.scope.length > 0', 'true'],
    ['>', '>='],
  ].map(([was = '', becomes = '']) =>
    same('src/schema/compile.ts', 'if (context.scope.length > 0) context.scope.length = 0;', was, becomes, 'Speed alone: what is empty is then emptied.'),
  ),
  same(
    'src/schema/compile.ts',
    'const context: Context = { steps: maxSteps, issues: undefined, polluted: false, scope: [] };',
    'false',
    'true',
    '`start` sets it before each look at a value.',
  ),
  same(
    'src/schema/issues.ts',
    echoLine,
    "message.includes('received') || message.includes('(was ')",
    'true',
    'Speed alone: in a message without these words nothing is replaced.',
  ),
];
