/**
 * `npm run test:quick`: what has changed since `main` against the tests that it can break at once.
 * That is every inside test whose imports lead to a changed file, but for the heavy ones of other
 * folders, and the outside tests of the folders with changed files, but for the slow ones. On `main`
 * itself: since its last commit.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

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

/** The folders of `src` and `test` with changes, such as `surfaces/mcp`: their outside tests run too. */
function changedFolders(since: string): string[] {
  const paths = [
    ...git('diff', '--name-only', since).split('\n'),
    ...git('ls-files', '--others', '--exclude-standard').split('\n'),
  ];
  return [
    ...new Set(
      paths.flatMap((path) => /^(?:src|test)\/((?:surfaces\/)?[^/]+)\//.exec(path)?.[1] ?? []),
    ),
  ];
}

const since = before();
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--project=!package',
    '--changed',
    since,
    '--passWithNoTests',
    ...process.argv.slice(2),
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, HOST_TOOLS_TEST_QUICK: changedFolders(since).join() || 'none' },
  },
);
process.exitCode = status ?? 1;
