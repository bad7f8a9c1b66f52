/**
 * Tries the packed package where hosts use it: a registry, bundlers, other runtimes, CommonJS and
 * releases of TypeScript. Ends with 1 if anything fails.
 *
 *   npm run test:compat                      builds first
 *   npm run test:compat -- --built           takes `dist` as it is
 *   npm run test:compat -- --built esbuild   only the checks whose names contain a word
 */
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check } from './check.ts';
import { npm } from './exec.ts';
import { prepare, root, type Subject, tools } from './subject.ts';

/** Checks that run at once. */
const width = 2;

const words = process.argv.slice(2).filter((word) => word !== '--built');
await installTools();
if (!process.argv.includes('--built')) await npm(root, 'run', 'build');
const work = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-compat-')));
try {
  const checks = (await allChecks(await prepare(work))).filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (checks.length === 0) throw new Error(`No check has ${words.join(' or ')} in its name.`);
  const failed = await runAll(checks);
  console.log(`\n${checks.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Installs what the lock file says, unless it is there. */
async function installTools(): Promise<void> {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
    join(tools, name),
  ) as [string, string];
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  await npm(tools, 'ci');
}

/** The tools are imported only once they are installed. */
async function allChecks(subject: Subject): Promise<Check[]> {
  const [publishing, bundlers, runtimes, workers, compilers] = await Promise.all([
    import('./publishing.ts'),
    import('./bundlers.ts'),
    import('./runtimes.ts'),
    import('./workers.ts'),
    import('./compilers.ts'),
  ]);
  return [
    ...publishing.publishingChecks(subject),
    ...bundlers.bundlerChecks(subject),
    ...(await runtimes.runtimeChecks(subject)),
    ...workers.workerChecks(subject),
    ...compilers.compilerChecks(subject),
  ];
}

/** Runs the checks and prints a line for each. Resolves to the number of those that failed. */
async function runAll(checks: readonly Check[]): Promise<number> {
  const waiting = [...checks];
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const start = performance.now();
      const error = await check.run().then(
        () => undefined,
        (thrown: unknown) => thrown ?? new Error('it rejected without a reason'),
      );
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      console.log(`${error === undefined ? 'ok  ' : 'FAIL'}  ${check.name} (${seconds} s)`);
      if (error === undefined) continue;
      failed++;
      console.log(String((error as Error).message ?? error).replace(/^/gm, '      '));
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return failed;
}
