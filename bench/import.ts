/**
 * What an import of the core costs beside zod, which a host that defines its tools with zod has
 * loaded anyway.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { median, quick } from './harness.ts';
import type { FamilyResult } from './targets.ts';

const run = promisify(execFile);

export async function measure(): Promise<FamilyResult> {
  const core = new URL('./core.js', import.meta.url).href;
  // From a file of the built folder, so that `zod` is found from where the core finds it.
  const script =
    `const start = performance.now(); await import('zod'); const middle = performance.now(); ` +
    `await import(${JSON.stringify(core)}); console.log(JSON.stringify([middle - start, ` +
    'performance.now() - middle]));';
  const samples: [number, number][] = [];
  for (let round = 0; round < (quick ? 5 : 11); round++) {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: new URL('.', import.meta.url),
    });
    samples.push(JSON.parse(stdout) as [number, number]);
  }
  return {
    rows: [
      {
        id: 'import',
        value: median(samples.map(([zod, own]) => own / zod)),
        note:
          `zod ${median(samples.map(([zod]) => zod)).toFixed(0)} ms, the core ` +
          `${median(samples.map(([, own]) => own)).toFixed(1)} ms more`,
      },
    ],
  };
}
