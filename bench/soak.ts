/**
 * `npm run bench:soak`: a million calls and a hundred thousand sessions. Exit code 1 when the heap
 * grows.
 */
import { buildAll } from './build.ts';
import { runFamily } from './spawn.ts';
import { targets, verdictOf } from './targets.ts';

await buildAll();
const started = performance.now();
const { rows } = await runFamily('soak');
const [row] = rows;
if (row === undefined) throw new Error('The soak gave no figure.');
const grew = verdictOf(row) === 'MISSED';
console.log(
  `\n${row.note} in ${((performance.now() - started) / 1000).toFixed(0)} s on Node ` +
    `${process.version}: the heap grew by ${row.value.toFixed(0)} KB (gate ${targets.leak.gate} ` +
    `KB) - ${grew ? 'it GROWS' : 'flat'}`,
);
process.exitCode = grew ? 1 : 0;
