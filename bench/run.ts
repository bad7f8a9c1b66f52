/**
 * `npm run bench`: measures every row of the table in docs/performance.md, each family in a process
 * of its own. `--check` exits with 1 when a row is beyond its gate, `--only NAME` runs families
 * whose name begins so, `--write` puts the table in the document. `BENCH_QUICK=1` shortens the run
 * to under a minute.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { buildAll } from './build.ts';
import { quick } from './harness.ts';
import { beyondGate, gather, markdownTable, terminalTable } from './report.ts';
import { familyNames, runFamily } from './spawn.ts';
import { type FamilyResult, targets } from './targets.ts';

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, only: { type: 'string' }, write: { type: 'boolean' } },
});
const chosen = familyNames.filter(
  (name) => values.only === undefined || name.startsWith(values.only),
);
if (chosen.length === 0)
  throw new Error(
    `--only: expected the beginning of one of ${familyNames.join(', ')}, got ${values.only}.`,
  );

await buildAll();
const results: FamilyResult[] = [];
for (const name of chosen) {
  process.stderr.write(`${name} …\n`);
  results.push(await runFamily(name));
}
const report = gather(results);
console.log(`\nNode ${process.version}${quick ? ', a quick run' : ''}\n\n${terminalTable(report)}`);

if (values.write === true)
  await writeTable(markdownTable(report, new Date().toISOString().slice(0, 10)));
const beyond = beyondGate(report);
if (beyond.length > 0)
  console.log(
    '\nBeyond the gate: ' +
      `${beyond.map(({ id }) => (id === undefined ? '' : targets[id].what)).join('; ')}`,
  );
if (values.check === true && beyond.length > 0) process.exitCode = 1;

async function writeTable(table: string): Promise<void> {
  const file = new URL('../docs/performance.md', import.meta.url);
  const text = await readFile(file, 'utf8');
  const [start, end] = ['<!-- table -->', '<!-- /table -->'];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from === -1 || to < from)
    throw new Error(`docs/performance.md: expected the markers ${start} and ${end}.`);
  await writeFile(file, `${text.slice(0, from + start.length)}\n${table}${text.slice(to)}`);
}
