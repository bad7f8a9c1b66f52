/** Mutants that behave as the source does, or differ in speed alone: no test can notice them, so they do not count. */
import type { Mutant } from './mutants.ts';

interface Equivalent {
  readonly file: string;
  /** The line as it stands in the source, without what is before and after it. */
  readonly line: string;
  readonly was: string;
  readonly becomes: string;
  readonly why: string;
}

const same = (file: string, line: string, was: string, becomes: string, why: string): Equivalent => ({ file, line, was, becomes, why });

const sameReading = 'A reading that equals the newest one is that one.';
const noText = 'Speed alone: `fail` makes nothing of the text while nobody wants issues.';
const marksAreDropped = 'Speed alone: `markOf` drops the marks where nobody asks for them.';
const plainAgain = 'Speed alone: the member is then tested by a call.';
const onlyAccepts = 'Speed alone: the check that is made then accepts everything.';

const known: readonly Equivalent[] = [
  same('src/limits/rate-window.ts', 'const at = now > this.#newest ? now : this.#newest;', '>', '>=', sameReading),
  same('src/limits/rate-window.ts', '#counts: Float64Array = new Float64Array(0);', '0', '1', 'Both rings are made anew before the first moment is kept.'),
  same(
    'src/schema/keywords-value.ts',
    "if (values.every((value) => typeof value !== 'object' || value === null)) {",
    "typeof value !== 'object'",
    'false',
    'Speed alone: plain values are then looked up in a Set.',
  ),
  same(
    'src/schema/keywords-value.ts',
    'if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined) return undefined;',
    'maxLength === Number.POSITIVE_INFINITY',
    'false',
    onlyAccepts,
  ),
  same(
    'src/schema/keywords-value.ts',
    'if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined) return undefined;',
    'pattern === undefined',
    'false',
    onlyAccepts,
  ),
  same(
    'src/schema/keywords-value.ts',
    'if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined) return undefined;',
    'minLength === 0',
    'false',
    onlyAccepts,
  ),
  same(
    'src/schema/keywords-value.ts',
    'if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined) return undefined;',
    'minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined',
    'false',
    onlyAccepts,
  ),
  same('src/schema/keywords-value.ts', 'if (context.issues === undefined) return false;', 'context.issues === undefined', 'false', noText),
  same(
    'src/schema/keywords-object.ts',
    `return context.issues === undefined ? false : fail(context, \`must be an object, got \${typeOf(value)}\`);`,
    'context.issues === undefined',
    'false',
    noText,
  ),
  same(
    'src/schema/keywords-array.ts',
    `return context.issues === undefined ? false : fail(context, \`must be an array, got \${typeOf(value)}\`);`,
    'context.issues === undefined',
    'false',
    noText,
  ),
  same(
    'src/schema/keywords-object.ts',
    'const inherited = names.map((name) => name in Object.prototype);',
    'name in Object.prototype',
    'true',
    'Speed alone: every member is then seen to be an own one.',
  ),
  same('src/schema/compile-keywords.ts', 'if (!site.wantsMarks) return;', '!site.wantsMarks', 'false', marksAreDropped),
  same('src/schema/compile-keywords.ts', 'if (!site.wantsMarks) return;', 'return;', ';', marksAreDropped),
  same(
    'src/schema/compile-keywords.ts',
    'if (site.wantsMarks && evaluated > 0) site.marks.push(markItems(evaluated));',
    'site.wantsMarks',
    'true',
    marksAreDropped,
  ),
  same('src/schema/compile-keywords.ts', 'if (site.wantsMarks) site.marks.push(markContained(check));', 'site.wantsMarks', 'true', marksAreDropped),
  ...['string', 'number', 'boolean'].map((type) =>
    same(
      'src/schema/compile-keywords.ts',
      "return gate !== undefined && checks.length === 0 && last === undefined && cost === 0 && (type === 'string' || type === 'number' || type === 'boolean')",
      `type === '${type}'`,
      'false',
      plainAgain,
    ),
  ),
  same(
    'src/call/strict-nulls.ts',
    'for (let left = mostReferences; left > 1 && level.length > 0; left--) {',
    'level.length > 0',
    'true',
    'Speed alone: levels without schemas add none.',
  ),
  same('src/schema/keywords-combine.ts', 'if (third === undefined) {', 'third === undefined', 'false', 'Speed alone: two checks are then asked in a loop.'),
  same(
    'src/schema/keywords-combine.ts',
    'if (close === 1 && meant !== undefined) {',
    'meant !== undefined',
    'true',
    'The compiler cannot see it: `close` is counted where `meant` is set.',
  ),
  same(
    'src/schema/keywords-unevaluated.ts',
    'for (const name of names) if (Object.hasOwn(value, name)) evaluated.names.add(name);',
    'Object.hasOwn(value, name)',
    'true',
    'Nobody asks for names that the value does not have.',
  ),
  same('src/schema/compile-defaults.ts', 'parts.length === 1', 'parts.length === 1', 'false', 'Speed alone: the one part is then called in a loop.'),
  same('src/schema/json-schema-check.ts', 'identified: false,', 'false', 'true', 'Speed alone: an index of no references is then made.'),
  same(
    'src/call/record.ts',
    'error: extra.secrets === undefined || extra.secrets.none ? error : scrubError(call, error),',
    'extra.secrets === undefined || extra.secrets.none',
    'false',
    'Speed alone: nothing is found in the error.',
  ),
];

export function isEquivalent(mutant: Mutant, text: string): boolean {
  const line = text.split('\n')[mutant.line - 1]?.trim();
  return known.some(({ file, line: where, was, becomes }) => file === mutant.file && where === line && was === mutant.was && becomes === mutant.becomes);
}
