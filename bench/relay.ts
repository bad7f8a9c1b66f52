/**
 * `npm run bench:relay`: measures the relay over loopback, servers in processes of their own, and
 * prints the table. `--markdown` prints it for a document, `--check` exits with 1 when a row is
 * beyond its gate, `--only NAME` runs families whose name begins so. `BENCH_QUICK=1` shortens the
 * run to well under a minute. `BENCH_PROFILE=folder` has the servers write CPU profiles there.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildAll } from './build.ts';
import { quick } from './harness.ts';
import { relayFamilies } from './relay/families.ts';
import { beyondGate, gather, markdownTable, terminalTable } from './report.ts';
import { runFamily } from './spawn.ts';
import { type FamilyResult, targets } from './targets.ts';

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, markdown: { type: 'boolean' }, only: { type: 'string' } },
});
const chosen = relayFamilies.filter(
  (name) => values.only === undefined || name.startsWith(values.only),
);
if (chosen.length === 0)
  throw new Error(
    `--only: expected the beginning of one of ${relayFamilies.join(', ')}, got ${values.only}.`,
  );

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const folder = at('../node_modules/.cache/host-tools-bench-relay/');
await buildAll(
  {
    serve: at('./relay/serve.ts'),
    worker: at('./relay/worker.ts'),
    flood: at('./relay/flood.ts'),
  },
  folder,
);
const results: FamilyResult[] = [];
for (const name of chosen) {
  process.stderr.write(`${name} …\n`);
  results.push(await runFamily(name, folder));
}
const gathered = gather(results);
const report = { ...gathered, skipped: [...new Set(gathered.skipped)] };
if (values.markdown === true)
  console.log(markdownTable(report, new Date().toISOString().slice(0, 10)));
else
  console.log(
    `\nNode ${process.version}${quick ? ', a quick run' : ''}\n\n${terminalTable(report)}`,
  );

const beyond = beyondGate(report);
if (beyond.length > 0)
  console.error(
    '\nBeyond the gate: ' +
      `${beyond.map(({ id }) => (id === undefined ? '' : targets[id].what)).join('; ')}`,
  );
if (values.check === true && beyond.length > 0) process.exitCode = 1;
