/**
 * `npm run bench:governance`: the 48 scenarios of AgentGovBench through this library. Prints what
 * holds in each category, and what does not. `--write` puts the table in docs/delegation.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { play } from './governance/play.ts';
import { scenarios } from './governance/scenarios.ts';
import { failedChecks } from './governance/score.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean' } } });

const categories = new Map<string, { held: number; all: number }>();
const failed: string[] = [];
for (const scenario of scenarios) {
  const [category = ''] = scenario.id.split('.');
  const row = categories.get(category) ?? { held: 0, all: 0 };
  categories.set(category, row);
  const checks = failedChecks(scenario, await play(scenario));
  row.all += 1;
  if (checks.length === 0) row.held += 1;
  else failed.push(`${scenario.id}: ${JSON.stringify(checks)}`);
}
const held = scenarios.length - failed.length;
const table = [
  '| category | held | of |',
  '|---|---|---|',
  ...[...categories].map(([name, row]) => `| ${name} | ${row.held} | ${row.all} |`),
  `| **all** | **${held}** | **${scenarios.length}** |`,
].join('\n');
console.log([table, ...failed].join('\n'));

if (values.write) {
  const page = fileURLToPath(new URL('../docs/delegation.md', import.meta.url));
  const text = await readFile(page, 'utf8');
  const start = text.indexOf('| category | held | of |');
  const end = text.indexOf('\n\n', start);
  if (start < 0) throw new Error('docs/delegation.md has no table of categories.');
  await writeFile(page, text.slice(0, start) + table + text.slice(end));
}
