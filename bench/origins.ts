/**
 * `npm run bench:origins -- FILE`: replays recorded tasks and attacks (AgentDojo's, in the shape
 * that `bench/origins/data.ts` describes), and prints how many user tasks pass without a question
 * and how many attacks are held. FILE may also be given as `ORIGINS_DATA`. `--why` names each
 * question and each attack that was not held. With `--code`, the calls of a task are one program,
 * and so are those of an attack.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Recording } from './origins/data.ts';
import { labels } from './origins/labels.ts';
import { replay, type SuiteResult } from './origins/replay.ts';
import { overCode, overSession } from './origins/session.ts';

const { values, positionals } = parseArgs({
  options: { why: { type: 'boolean' }, code: { type: 'boolean' } },
  allowPositionals: true,
});
const path = positionals[0] ?? process.env.ORIGINS_DATA;
if (path === undefined)
  throw new Error(
    'bench:origins: expected the file of recorded tasks as argument or ORIGINS_DATA.',
  );
const { suites } = JSON.parse(await readFile(path, 'utf8')) as Recording;

const rows = [
  ['suite', 'tasks without a question', 'attacks held', 'of those with a foreign target'],
];
const results: SuiteResult[] = [];
for (const [name, suite] of Object.entries(suites)) {
  const own = labels[name];
  if (own === undefined) {
    console.error(`bench:origins: no labels for the suite ${name}; it is left out.`);
    continue;
  }
  const result = await replay(suite, own, values.code === true ? overCode : overSession);
  results.push(result);
  rows.push(rowOf(name, result));
  if (values.why !== true) continue;
  for (const [task, calls] of result.asked)
    for (const call of calls)
      console.log(`${name} ${task} asks: ${call.function} ${JSON.stringify(call.args)}`);
  for (const pair of result.through) console.log(`${name} not held: ${pair}`);
}
const sum = (of: (result: SuiteResult) => number): number =>
  results.reduce((total, result) => total + of(result), 0);
rows.push([
  'all',
  share(
    sum(({ tasks, asked }) => tasks - asked.size),
    sum(({ tasks }) => tasks),
  ),
  share(
    sum(({ held }) => held),
    sum(({ pairs }) => pairs),
  ),
  share(
    sum(({ foreignHeld }) => foreignHeld),
    sum(({ foreign }) => foreign),
  ),
]);
const widths = rows[0]?.map((_, column) =>
  Math.max(...rows.map((row) => row[column]?.length ?? 0)),
);
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );

function rowOf(
  name: string,
  { tasks, asked, pairs, held, foreign, foreignHeld }: SuiteResult,
): string[] {
  return [name, share(tasks - asked.size, tasks), share(held, pairs), share(foreignHeld, foreign)];
}

function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
}
