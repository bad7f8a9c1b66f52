/**
 * `npm run mutate`: changes one expression of the sources at a time and looks whether a test fails.
 * Prints the score, and the mutants that no test noticed.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { slowdown } from './busy.ts';
import { Cache, digest } from './cache.ts';
import { type Reach, reachOf } from './coverage.ts';
import { isEquivalent, unmatched } from './equivalent.ts';
import { markAbove, marksOf } from './marks.ts';
import { type Mutant, mutantsOf, mutated } from './mutants.ts';
import { readArguments } from './options.ts';
import { createTypeCheck } from './types.ts';
import { Worker } from './worker.ts';

interface Result {
  /** `unreached`: no test runs it. `refused`: it does not compile, so it does not count. */
  readonly outcome: 'killed' | 'survived' | 'unreached' | 'refused';
  /** The first test file that failed. */
  readonly by?: string | undefined;
}

const root = resolve(import.meta.dirname, '../..');
process.chdir(root);
const folder = resolve(root, 'node_modules/.cache/mutate');
const options = readArguments(process.argv.slice(2));
const textOf = (file: string): string => readFileSync(file, 'utf8');
const random = seeded(options.seed);
const chosen = options.files.map((file) => {
  const text = textOf(file);
  const sampled = mutantsOf(file, text).filter((mutant) => {
    const drawn = random() < options.share;
    return !isEquivalent(mutant, text) && drawn;
  });
  return { file, text, mutants: sampled };
});
for (const entry of unmatched(options.files))
  console.error(`equivalent.json names no mutant of ${entry}`);

if (options.list) {
  for (const { mutants } of chosen) for (const mutant of mutants) console.log(shown(mutant));
  process.exit(0);
}

const worker = new Worker(resolve(folder, 'hits.jsonl'));
const cache = new Cache<Result>(resolve(folder, 'results.json'), options.fresh);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    worker.stop();
    process.exit(0);
  });
}

await worker.start();
const reach = await reachOf(
  worker,
  Object.fromEntries(options.marked.map((file) => [file, textOf(file)])),
  folder,
  options.fresh,
);
const compiles = createTypeCheck(root);
const survivors: string[] = [];
const sum = { killed: 0, mutants: 0 };
for (const { file, text, mutants } of chosen) {
  const started = performance.now();
  const marks = marksOf(file, text);
  const killers = new Set<string>();
  let killed = 0;
  let counted = 0;
  for (const mutant of mutants) {
    const { outcome, by } = await meet(
      mutant,
      text,
      testsFor(file, markAbove(marks, file, text, mutant.start), killers),
    );
    if (outcome === 'refused') continue;
    counted += 1;
    if (outcome !== 'killed') {
      survivors.push(`${outcome}: ${shown(mutant)}`);
      if (process.env.MUTATE_VERBOSE) console.log(survivors.at(-1));
    } else {
      killed += 1;
      if (by !== undefined) killers.add(by);
    }
  }
  sum.killed += killed;
  sum.mutants += counted;
  console.log(
    `${score(killed, counted)}  ${file}  ${Math.round((performance.now() - started) / 1_000)} s`,
  );
}
worker.stop();
console.log(`\n${survivors.join('\n')}\n\n${score(sum.killed, sum.mutants)}  in all`);
process.exit(0);

/**
 * The tests that reach a mark, those first that are most likely to notice: the file's own tests
 * (`a.test.ts` and `a-more.test.ts` of `a.ts`), those that noticed others of the file, then those
 * that reach most of the file for their time.
 */
function testsFor(file: string, mark: number | undefined, killers: ReadonlySet<string>): string[] {
  const name = file.replace('src/', 'test/').replace(/\.ts$/, '');
  const own = (test: string): boolean => test === `${name}.test.ts` || test.startsWith(`${name}-`);
  const rank = (test: string): number => (own(test) ? 0 : killers.has(test) ? 1 : 2);
  // What a module does when it is loaded has no mark: whoever reaches anything in it has loaded it.
  const reaching = [...reach].filter(([, { hits }]) =>
    mark === undefined ? hits[file] !== undefined : hits[file]?.includes(mark),
  );
  const worth = ({ hits, durationMs }: Reach): number =>
    (hits[file]?.length ?? 0) / (100 + durationMs);
  reaching.sort(([a, left], [b, right]) => rank(a) - rank(b) || worth(right) - worth(left));
  let spentMs = 0;
  return reaching.flatMap(([test, { durationMs }]) => {
    spentMs += durationMs;
    return spentMs <= options.budgetMs || own(test) ? [test] : [];
  });
}

/**
 * What the tests say of a mutant, now or in an earlier run. A mutant that was noticed stays so; one
 * that was not meets tests that are new or changed.
 */
async function meet(mutant: Mutant, text: string, tests: readonly string[]): Promise<Result> {
  const name = digest(mutant.file, text, `${mutant.start}:${mutant.end}`, mutant.becomes);
  const whole = digest(name, ...[...tests].sort().map((test) => textOf(test)));
  const before = cache.get(name) ?? cache.get(whole);
  if (before !== undefined) return before;
  const result = compiles(mutant.file, mutated(text, mutant))
    ? await resultOf(mutant, text, tests)
    : ({ outcome: 'refused' } as const);
  cache.set(result.outcome === 'killed' || result.outcome === 'refused' ? name : whole, result);
  cache.save();
  return result;
}

async function resultOf(mutant: Mutant, text: string, tests: readonly string[]): Promise<Result> {
  if (tests.length === 0) return { outcome: 'unreached' };
  const changed = { [mutant.file]: mutated(text, mutant) };
  // The first test file notices most mutants; the others need not even be loaded then.
  for (const batch of [tests.slice(0, 1), tests.slice(1)]) {
    if (batch.length === 0) continue;
    const usualMs = batch.reduce((total, test) => total + (reach.get(test) as Reach).durationMs, 0);
    const answer = await worker.run(
      { texts: changed, tests: batch, all: false },
      (15_000 + 3 * usualMs) * slowdown(),
    );
    if (answer === undefined) return { outcome: 'killed' };
    if (answer.failed.length > 0) return { outcome: 'killed', by: answer.failed[0] };
  }
  return { outcome: 'survived' };
}

function shown({ file, line, was, becomes }: Mutant): string {
  const short = (code: string): string => code.replace(/\s+/g, ' ').slice(0, 90);
  return `${file}:${line}  ${short(was)}  →  ${becomes === ';' ? 'removed' : short(becomes)}`;
}

function score(killed: number, mutants: number): string {
  const percent = mutants === 0 ? 100 : (100 * killed) / mutants;
  return `${percent.toFixed(1).padStart(5)} % (${killed} of ${mutants})`;
}

/** Numbers from 0 up to 1, the same ones for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
