/**
 * `npm run test:quick`: what has changed since `main` against the tests that it can break at once;
 * `quick-files.ts` says which those are. On `main` itself: since its last commit.
 */
import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';
import { createVitest, parseCLI } from 'vitest/node';
import { foldersOf, quickFiles } from './quick-files.ts';

const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The commit before the work at hand. */
function before(): string {
  const head = git('rev-parse', 'HEAD');
  try {
    const base = git('merge-base', 'HEAD', 'main');
    if (base !== head) return base;
  } catch {
    // A clone without `main`.
  }
  return git('status', '--porcelain') === '' ? 'HEAD~1' : head;
}

const since = before();
const paths = [
  ...git('diff', '--name-only', since).split('\n'),
  ...git('ls-files', '--others', '--exclude-standard').split('\n'),
].filter((path) => path !== '');
process.env.HOST_TOOLS_TEST_QUICK = foldersOf(paths).join() || 'none';

const { filter, options } = parseCLI([
  'vitest',
  'run',
  '--project=inside',
  '--project=outside',
  ...process.argv.slice(2),
]);
const vitest = await createVitest('test', { ...options, watch: false, changed: since });
try {
  await vitest.standalone();
  const all = await vitest.globTestSpecifications(filter);
  const related = new Set(
    (await vitest.getRelevantTestSpecifications(filter)).map(({ moduleId }) => moduleId),
  );
  const isQuick = quickFiles(paths);
  const chosen = all.filter(({ moduleId, project }) =>
    isQuick({
      file: relative(vitest.config.root, moduleId).replaceAll('\\', '/'),
      isOutside: project.name === 'outside',
      isRelated: related.has(moduleId),
    }),
  );
  if (chosen.length > 0) await vitest.runTestSpecifications(chosen, true);
} finally {
  await vitest.close();
}
