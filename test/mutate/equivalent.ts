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
  {
    file: 'src/when.ts',
    line: 'const walk: Walk = { path, condition, judged, hole: false, found: 0 };',
    was: 'false',
    becomes: 'true',
    why: '`findingOf` sets it before each reading; `any` never looks at it.',
  },
  {
    file: 'src/when.ts',
    line: 'const walk: Walk = { path, condition, judged, hole: false, found: 0 };',
    was: '0',
    becomes: '1',
    why: '`findingOf` sets it before each reading; `any` never looks at it.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: "const allowed: Verdict = Object.freeze(makeVerdict('allow', { source: 'default' }));",
    was: "Object.freeze(makeVerdict('allow', { source: 'default' }))",
    becomes: "(makeVerdict('allow', { source: 'default' }))",
    why: 'It never leaves the library, whose code changes no verdict.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: "if (steps === undefined && (tally.spoken || binding.default === 'allow')) return tally.ask ?? tally.allow ?? allowed;",
    was: 'steps === undefined',
    becomes: 'false',
    why: 'Speed only: what follows comes to the same verdict, as a copy.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: "if (steps === undefined && (tally.spoken || binding.default === 'allow')) return tally.ask ?? tally.allow ?? allowed;",
    was: "steps === undefined && (tally.spoken || binding.default === 'allow')",
    becomes: 'false',
    why: 'Speed only: what follows comes to the same verdict, as a copy.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: 'if (binding.profileAsks || entry.internals.requiresApproval !== false) judges.push(approvalJudge);',
    was: 'binding.profileAsks || entry.internals.requiresApproval !== false',
    becomes: 'true',
    why: 'Speed only: that judge says nothing where neither asks.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: 'if (binding.profileAsks || entry.internals.requiresApproval !== false) judges.push(approvalJudge);',
    was: 'entry.internals.requiresApproval !== false',
    becomes: 'true',
    why: 'Speed only: that judge says nothing where neither asks.',
  },
  {
    file: 'src/approval/grants.ts',
    line: 'for (const [id, held] of this.#held) if (held.expiresAt !== undefined && held.expiresAt <= now) this.#held.delete(id);',
    was: 'held.expiresAt !== undefined',
    becomes: 'true',
    why: 'For undefined the comparison that follows is false.',
  },
  {
    file: 'src/shown/approval-input.ts',
    line: 'return (text.codePointAt(at - 1) ?? 0) > 0xffff;',
    was: 'text.codePointAt(at - 1) ?? 0',
    becomes: 'text.codePointAt(at - 1)',
    why: 'For undefined the comparison is false as well.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'const buckets: number[][] = Array.from({ length: longestPrefix + 1 }, () => []);',
    was: '1',
    becomes: '2',
    why: 'A bucket that stays empty.',
  },
  { file: 'src/redaction/search.ts', line: 'const slots = new Int32Array(1 << bits);', was: '1', becomes: '2', why: 'Half of the table is never used.' },
  {
    file: 'src/redaction/search.ts',
    line: 'const seed = (Math.random() * 0x1_0000_0000) | 1;',
    was: '0x1_0000_0000',
    becomes: '4294967297',
    why: 'Any number that nobody knows does.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'const seed = (Math.random() * 0x1_0000_0000) | 1;',
    was: '1',
    becomes: '2',
    why: 'Any number that nobody knows does.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'const mixed = Math.imul(Math.imul(node + 1, 0x9e3779b1) ^ (unit + seed), 0x85ebca6b ^ seed);',
    was: '+',
    becomes: '-',
    why: 'Another hash: a node is found wherever it is put.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'const mixed = Math.imul(Math.imul(node + 1, 0x9e3779b1) ^ (unit + seed), 0x85ebca6b ^ seed);',
    was: '1',
    becomes: '2',
    why: 'Another hash: a node is found wherever it is put.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'const mixed = Math.imul(Math.imul(node + 1, 0x9e3779b1) ^ (unit + seed), 0x85ebca6b ^ seed);',
    was: '0x9e3779b1',
    becomes: '2654435762',
    why: 'Another hash: a node is found wherever it is put.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'const mixed = Math.imul(Math.imul(node + 1, 0x9e3779b1) ^ (unit + seed), 0x85ebca6b ^ seed);',
    was: '0x85ebca6b',
    becomes: '2246822508',
    why: 'Another hash: a node is found wherever it is put.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'return (mixed ^ (mixed >>> 15)) & mask;',
    was: '15',
    becomes: '16',
    why: 'Another hash: a node is found wherever it is put.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'return;',
    was: 'return;',
    becomes: ';',
    why: 'The edge also takes a place in the table, which is large enough for all; the root looks into its own first.',
  },
  {
    file: 'src/redaction/secret-map.ts',
    line: 'if (isJsonObject(schema)) root.push(...compileSchema(schema));',
    was: 'isJsonObject(schema)',
    becomes: 'true',
    why: 'A schema that is no object has no node.',
  },
  {
    file: 'src/redaction/secret-map.ts',
    line: 'const inert = Object.freeze(createNode(false));',
    was: 'false',
    becomes: 'true',
    why: 'It is never asked what it speaks of: it leads nowhere.',
  },
  {
    file: 'src/redaction/secret-map.ts',
    line: 'const inert = Object.freeze(createNode(false));',
    was: 'Object.freeze(createNode(false))',
    becomes: '(createNode(false))',
    why: 'Nobody changes it.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: 'if (registryRules.length > 0) judges.push(rulesJudge(registryRules));',
    was: 'registryRules.length > 0',
    becomes: 'true',
    why: 'Speed only: a judge of no rules says nothing.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: 'if (registryRules.length > 0) judges.push(rulesJudge(registryRules));',
    was: '>',
    becomes: '>=',
    why: 'Speed only: a judge of no rules says nothing.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: 'if (sessionRules.length > 0) judges.push(rulesJudge(sessionRules));',
    was: 'sessionRules.length > 0',
    becomes: 'true',
    why: 'Speed only: a judge of no rules says nothing.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: 'if (sessionRules.length > 0) judges.push(rulesJudge(sessionRules));',
    was: '>',
    becomes: '>=',
    why: 'Speed only: a judge of no rules says nothing.',
  },
  {
    file: 'src/pipeline/decide.ts',
    line: "if (effect !== 'deny') return undefined;",
    was: "effect !== 'deny'",
    becomes: 'false',
    why: 'Speed only: the denial of a rule that does not deny is never read.',
  },
  {
    file: 'src/redaction/secret-map.ts',
    line: 'node.prefix = tuple.map((child) => of(child)[0] ?? inert);',
    was: 'of(child)[0] ?? inert',
    becomes: 'of(child)[0]',
    why: '`prune` puts the same into every place that holds nothing live.',
  },
  {
    file: 'src/redaction/secret-states.ts',
    line: 'let kept = 0;',
    was: '0',
    becomes: '1',
    why: 'Speed only: what is forgotten one node sooner is made again.',
  },
  {
    file: 'src/redaction/secret-states.ts',
    line: 'if (kept > mostKept) {',
    was: '>',
    becomes: '>=',
    why: 'Speed only: what is forgotten one node sooner is made again.',
  },
  {
    file: 'src/redaction/secret-states.ts',
    line: 'const mostKept = 200_000;',
    was: '200_000',
    becomes: '200001',
    why: 'Speed only: what is forgotten one node later is made again.',
  },
  {
    file: 'src/redaction/secret-states.ts',
    line: 'if (index >= state.places && (state.names.size === 0 || !state.names.has(String(index)))) {',
    was: 'state.names.size === 0',
    becomes: 'false',
    why: 'Speed only: no name is written where none is listed.',
  },
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
  same(
    'src/schema/bind.ts',
    "if (path === undefined || path.length === 0) return '';",
    'path.length === 0',
    'false',
    'Speed alone: no parts make an empty text.',
  ),
  {
    file: 'src/approval/token.ts',
    line: "if (dot < 1 || token.indexOf('.', dot + 1) !== -1) return undefined;",
    was: 'dot < 1',
    becomes: 'false',
    why: 'Speed only: no signature fits such a text.',
  },
  {
    file: 'src/approval/token.ts',
    line: "if (dot < 1 || token.indexOf('.', dot + 1) !== -1) return undefined;",
    was: "token.indexOf('.', dot + 1) !== -1",
    becomes: 'false',
    why: 'Speed only: no signature fits such a text.',
  },
  {
    file: 'src/approval/token.ts',
    line: "if (dot < 1 || token.indexOf('.', dot + 1) !== -1) return undefined;",
    was: "dot < 1 || token.indexOf('.', dot + 1) !== -1",
    becomes: 'false',
    why: 'Speed only: no signature fits such a text.',
  },
  {
    file: 'src/redaction/scrub.ts',
    line: 'if (secrets.none) return false;',
    was: 'secrets.none',
    becomes: 'false',
    why: 'Speed only: a search for nothing finds nothing.',
  },
  {
    file: 'src/redaction/search.ts',
    line: 'if (longOf.size > 0) {',
    was: 'longOf.size > 0',
    becomes: 'true',
    why: 'Speed only: there is nothing in the map to be found.',
  },
  { file: 'src/redaction/search.ts', line: 'if (longOf.size > 0) {', was: '>', becomes: '>=', why: 'Speed only: there is nothing in the map to be found.' },
];

export function isEquivalent(mutant: Mutant, text: string): boolean {
  const line = text.split('\n')[mutant.line - 1]?.trim();
  return known.some(({ file, line: where, was, becomes }) => file === mutant.file && where === line && was === mutant.was && becomes === mutant.becomes);
}
