/**
 * What an import costs beside zod, which a host that defines its tools with zod has loaded anyway: of
 * the package as `npm run build` has made it.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median, quick } from './harness.ts';
import type { FamilyResult } from './targets.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

const entries = [
  ['import_core', 'core'],
  ['import', 'index'],
] as const;

export async function measure(): Promise<FamilyResult> {
  if (!existsSync(`${root}dist/core.js`)) await run('npm', ['run', 'build'], { cwd: root });
  const rows: FamilyResult['rows'][number][] = [];
  for (const [id, entry] of entries) {
    const module = new URL(`file://${root}dist/${entry}.js`).href;
    // Processor time, since a reading thread and other programs make a clock's time vary.
    const script =
      'const used = () => { const { user, system } = process.cpuUsage(); return user + system; };' +
      "const start = used(); await import('zod'); const middle = used(); " +
      `await import(${JSON.stringify(module)}); ` +
      'console.log(JSON.stringify([middle - start, used() - middle]));';
    const samples: [number, number][] = [];
    for (let round = 0; round < (quick ? 7 : 15); round++) {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
        cwd: root,
      });
      samples.push(JSON.parse(stdout) as [number, number]);
    }
    const ms = (at: 0 | 1): string => (median(samples.map((one) => one[at])) / 1_000).toFixed(1);
    rows.push({
      id,
      value: median(samples.map(([zod, own]) => own / zod)),
      note: `zod ${ms(0)} ms, the package ${ms(1)} ms more`,
    });
  }
  return { rows };
}
