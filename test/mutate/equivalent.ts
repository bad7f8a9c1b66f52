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
];

export function isEquivalent(mutant: Mutant, text: string): boolean {
  const line = text.split('\n')[mutant.line - 1]?.trim();
  return known.some(({ file, line: where, was, becomes }) => file === mutant.file && where === line && was === mutant.was && becomes === mutant.becomes);
}
