/**
 * The process that holds one vitest and runs tests on request. Its parent ends it when a mutant
 * never comes back.
 */
import { isAbsolute, relative, resolve } from 'node:path';
import process from 'node:process';
import { createVitest, type TestSpecification } from 'vitest/node';
import rootConfig from '../../vitest.config.ts';
import { slowdown } from './busy.ts';

/** Runs test files, in this order, up to the first one that fails. */
export interface Request {
  /** What sources are read as, by path from the root. */
  readonly texts: Readonly<Record<string, string>>;
  readonly tests: readonly string[];
  /** Goes on after a failure. */
  readonly all: boolean;
}

export interface Answer {
  /** The test files that failed, and errors that belong to none. */
  readonly failed: readonly string[];
  /** Milliseconds, by test file. */
  readonly durations: Readonly<Record<string, number>>;
}

const root = resolve(import.meta.dirname, '../..');
let texts: ReadonlyMap<string, string> = new Map();

/** Keeps the order that it is given. */
class GivenOrder {
  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

const [inside] = rootConfig({ command: 'serve', mode: 'test' }).test?.projects ?? [];
if (typeof inside !== 'object' || !('test' in inside))
  throw new Error('Expected the first project of vitest.config.ts to be an object with `test`.');

const vitest = await createVitest(
  'test',
  {
    ...inside.test,
    root,
    config: false,
    watch: false,
    setupFiles: ['test/setup.ts', 'test/mutate/setup.ts'],
    sequence: { shuffle: false, sequencer: GivenOrder },
    maxWorkers: 1,
    fileParallelism: false,
    reporters: [{}],
    silent: true,
  },
  {
    plugins: [
      {
        name: 'mutate',
        enforce: 'pre',
        transform(_code, id) {
          const text = texts.get(id.split('?')[0] as string);
          return text === undefined ? undefined : { code: text, map: null };
        },
      },
    ],
  },
);
const specifications = new Map(
  (await vitest.globTestSpecifications()).map((specification) => [
    relative(root, specification.moduleId),
    specification,
  ]),
);

/** An error without a prototype has no text of its own. */
function described(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an error that cannot be read';
  }
}

async function answerTo(request: Request): Promise<Answer> {
  const now = new Map(
    Object.entries(request.texts).map(([file, text]) => [
      isAbsolute(file) ? file : resolve(root, file),
      text,
    ]),
  );
  for (const file of [...texts.keys(), ...now.keys()]) vitest.invalidateFile(file);
  texts = now;
  const durations: Record<string, number> = {};
  const failed: string[] = [];
  // What failed in an earlier run counts towards `bail` otherwise.
  vitest.state.filesMap.clear();
  vitest.state.errorsSet.clear();
  for (const { config } of [vitest, ...vitest.projects]) {
    config.bail = request.all ? 0 : 1;
    // A test without a mutant may be slow; one that waits for what a mutant took away should not
    // cost long.
    config.testTimeout = request.all ? 60_000 : 4_000 * slowdown();
  }
  const wanted = request.tests.flatMap((test) => specifications.get(test) ?? []);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(wanted);
  for (const module of testModules) {
    durations[module.relativeModuleId] =
      module.diagnostic().duration + module.diagnostic().collectDuration;
    if (module.state() === 'failed') failed.push(module.relativeModuleId);
  }
  failed.push(...unhandledErrors.map(described));
  return { failed, durations };
}

process.on('message', (request: Request) => {
  answerTo(request).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.([...specifications.keys()]);
