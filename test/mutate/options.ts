/** What `npm run mutate -- …` understands. */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

export interface Options {
  /** Paths from the root, sorted. */
  readonly files: readonly string[];
  /**
   * Files whose statements are marked when it is found out which test reaches what: always the same
   * ones, so that this is kept from run to run.
   */
  readonly marked: readonly string[];
  /** The share of mutants that are run, above 0 and up to 1. */
  readonly share: number;
  readonly seed: number;
  /** How long the tests that one mutant meets may take in all, by the clock of the first run. */
  readonly budgetMs: number;
  readonly fresh: boolean;
  readonly list: boolean;
}

const usage = `npm run mutate -- [files or folders] [options]
  --sample N    runs only N per cent of the mutants
  --seed N      which ones (1)
  --seconds N   how long the tests that one mutant meets may take in all (10)
  --fresh       forgets what earlier runs found
  --list        prints the mutants and runs nothing`;

/**
 * Where a fault lets through what must be stopped: policy, approval, the stages of a call,
 * redaction, validation and limits.
 */
const standard = [
  ...[
    'core/approval',
    'core/call',
    'core/rules',
    'parts/durable-approvals',
    'parts/json-schema',
    'parts/quotas',
    'parts/scopes',
    'parts/secrets',
    'values/limits',
    'values/schema',
    'values/options',
    'values/logging.ts',
    'values/text/glob.ts',
  ].map((name) => `src/${name}`),
  'src/core/call/session-limits.ts',
  'src/surfaces/shared/approval-input.ts',
];

/** @throws Error with the usage for arguments that it does not know. */
export function readArguments(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '10' },
      fresh: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const files = filesIn(positionals.length === 0 ? standard : positionals);
  return {
    files,
    marked: filesIn([...standard, ...files]),
    share: Math.min(1, positive('--sample', values.sample) / 100),
    seed: positive('--seed', values.seed),
    budgetMs: positive('--seconds', values.seconds) * 1_000,
    fresh: values.fresh,
    list: values.list,
  };
}

function filesIn(paths: readonly string[]): string[] {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter((path) => path.endsWith('.ts'));
  const files = paths.flatMap((path) => {
    const folder = path.endsWith('/') ? path : `${path}/`;
    const found = sources.filter((source) => source === path || source.startsWith(folder));
    if (found.length === 0)
      throw new Error(`Expected files or folders of src, got ${path}.\n${usage}`);
    return found;
  });
  return [...new Set(files)].sort();
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0))
    throw new Error(`Expected ${name} to be a number above 0, got ${text}.\n${usage}`);
  return value;
}
