/**
 * The contract of an executor as data: a call on it ends as a call to the same handler in this
 * process does, with the same events.
 */
import assert from 'node:assert/strict';
import type { Executor, MaybePromise, ToolResult } from '../../../core.ts';
import { readMembers } from '../../../values/options/index.ts';
import {
  type ExecutorTask,
  type ExecutorWorld,
  executorWorld,
  type MakeExecutor,
} from './executor-world.ts';

/**
 * The features that an executor may lack.
 *
 * @example
 * ```ts
 * import { executorFeatures } from 'host-tools/testing';
 *
 * console.log(Object.keys(executorFeatures)); // the names that `features` takes
 * ```
 */
export const executorFeatures = {
  childCalls: 'a handler can call other tools',
  approvals: 'a person can be asked about a call that a handler makes',
} as const satisfies Record<string, string>;

/** The name of a feature whose rules can be left out of the suite. */
export type ExecutorFeature = keyof typeof executorFeatures;

/** Options of {@link executorConformance}. */
export interface ExecutorConformanceOptions {
  /** Set a feature that the executor lacks to `false`. @default it has every feature */
  readonly features?: Partial<Readonly<Record<ExecutorFeature, boolean>>> | undefined;
}

/** One rule, for any test runner: `test(rule.name, rule.run)`. */
export interface ExecutorRule {
  /** The rule as a sentence. */
  readonly name: string;
  /** The feature that it is about; absent if every executor must satisfy it. */
  readonly feature?: ExecutorFeature;
  /**
   * Makes an executor, checks the rule on it, and disposes it. Resolves if the rule holds;
   * otherwise it rejects with an `AssertionError` that says what was expected.
   */
  run(): Promise<void>;
}

/** A call that must end as it does in this process. */
interface Row {
  readonly title: string;
  readonly handler: string;
  readonly input?: object;
  readonly feature?: ExecutorFeature;
}

const values: readonly (readonly [string, unknown])[] = [
  ['a text', 'plain'],
  ['an empty text', ''],
  ['unicode and control characters', 'na\u0308ive 👩‍💻 שלום\n\u0007 \u2028'],
  ['a lone surrogate', 'b\ud800c'],
  ['a number', -1.5e-7],
  ['false', false],
  ['null', null],
  ['an array', [1, { two: [2, null] }]],
  ['keys such as __proto__', JSON.parse('{"constructor":1,"__proto__":{"polluted":true},"":2}')],
  ['a long text', 'x'.repeat(200_000)],
  ['many values', Array.from({ length: 20_000 }, (_, index) => ({ index }))],
];

const rows: readonly Row[] = [
  ...values.map(([title, value]) => ({
    title: `the input and the output cross: ${title}`,
    handler: 'echo',
    input: { value },
  })),
  { title: 'no output is null', handler: 'nothing' },
  { title: 'dates and undefined become JSON', handler: 'date' },
  { title: 'ok() with metadata', handler: 'noted' },
  { title: 'parts of content', handler: 'parts' },
  { title: 'fail() with reason, details and retryable', handler: 'failing' },
  { title: 'an error that is thrown', handler: 'throwing' },
  { title: 'an error that rejects', handler: 'rejecting' },
  { title: 'a text that is thrown', handler: 'throwingText' },
  ...['number', 'big', 'function', 'circle', 'map'].map((kind) => ({
    title: `an output that is not JSON: ${kind}`,
    handler: 'unreturnable',
    input: { kind },
  })),
  { title: 'the context', handler: 'told', input: { value: 1 } },
  { title: 'progress, events and logs, in order', handler: 'reporting' },
  { title: 'a generator', handler: 'generating' },
  {
    title: 'a child call that succeeds',
    handler: 'asking',
    input: { tool: 'child', input: { value: [1] }, options: { callId: 'mine', timeoutMs: 9_000 } },
    feature: 'childCalls',
  },
  {
    title: 'a child call that fails',
    handler: 'asking',
    input: { tool: 'child_failing', input: {} },
    feature: 'childCalls',
  },
  {
    title: 'a child call to a tool that the definition does not name',
    handler: 'asking',
    input: { tool: 'child_hidden', input: {} },
    feature: 'childCalls',
  },
  {
    title: 'a child call to a tool that does not exist',
    handler: 'asking',
    input: { tool: 'nowhere', input: {} },
    feature: 'childCalls',
  },
  { title: 'many child calls at once', handler: 'askingOften', feature: 'childCalls' },
  {
    title: 'a child call that the handler cancels',
    handler: 'askingAndStopping',
    feature: 'childCalls',
  },
  {
    title: 'a child call that a person approves',
    handler: 'asking',
    input: { tool: 'child_asking', input: { approve: true } },
    feature: 'approvals',
  },
  {
    title: 'a child call that a person rejects',
    handler: 'asking',
    input: { tool: 'child_asking', input: { approve: false } },
    feature: 'approvals',
  },
];

/** Rules that consist of more than one call. */
const more: readonly {
  readonly title: string;
  readonly handler: string;
  readonly check: (world: ExecutorWorld) => Promise<void>;
}[] = [
  { title: 'a cancelled call ends, and the next one runs', handler: 'waiting', check: cancels },
  { title: 'a call that takes too long ends', handler: 'waiting', check: timesOut },
  { title: 'closing the session ends its calls', handler: 'waiting', check: closes },
  { title: 'calls at once each get their own answer', handler: 'slow', check: runsMany },
  { title: 'disposing twice does no harm', handler: 'echo', check: disposesTwice },
];

/**
 * Returns the rules that an executor must satisfy, as data:
 * `for (const rule of executorConformance(make)) test(rule.name, rule.run)`. For each rule, `make`
 * returns an executor that runs one export of a module. The module is a file that the suite writes,
 * and removes after the rule. A call must have the result and the events of a call to the same
 * handler in this process.
 * @throws MisuseError for an unknown feature.
 *
 * @example
 * ```ts
 * import { workerExecutor } from 'host-tools/sandbox';
 * import { executorConformance } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * const rules = executorConformance((task) =>
 *   workerExecutor({ module: task.module, export: task.export }),
 * );
 * for (const rule of rules) test(rule.name, rule.run);
 * ```
 */
export function executorConformance(
  make: (task: ExecutorTask) => MaybePromise<Executor>,
  options?: ExecutorConformanceOptions,
): ExecutorRule[] {
  const where = 'executorConformance';
  const { features: given } = readMembers(where, options, ['features']);
  const features = readMembers(where, given, Object.keys(executorFeatures), { noun: 'feature' });
  const has = (feature: ExecutorFeature | undefined): boolean =>
    feature === undefined || features[feature] !== false;
  return [
    ...rows
      .filter(({ feature }) => has(feature))
      .map((row): ExecutorRule => {
        const { title: name, feature } = row;
        const run = (): Promise<void> => compare(row, make);
        return feature === undefined ? { name, run } : { name, feature, run };
      }),
    ...more.map(
      ({ title, handler, check }): ExecutorRule => ({
        name: title,
        run: () => within(handler, make, check),
      }),
    ),
  ];
}

async function within<T>(
  handler: string,
  make: MakeExecutor | undefined,
  check: (world: ExecutorWorld) => Promise<T>,
): Promise<T> {
  const world = await executorWorld(handler, make);
  try {
    return await check(world);
  } finally {
    await world.close();
  }
}

async function compare({ handler, input = {} }: Row, make: MakeExecutor): Promise<void> {
  const look = async ({ session, heard, asked }: ExecutorWorld): Promise<unknown> => {
    const options = { callId: 'call-1', idempotencyKey: 'key-1' };
    const result = await session.call('tested', input, options);
    return {
      result: shownResult(result),
      events: heard,
      asked: asked.map((request) => [request.tool.name, request.input]),
    };
  };
  const expected = await within(handler, undefined, look);
  assert.deepEqual(await within(handler, make, look), expected);
}

/** The parts of a result that do not differ from call to call. */
function shownResult({ success, output, error, metadata }: ToolResult): unknown {
  const { status, handler } = metadata;
  if (error === undefined) return { success, output, status, handler };
  const { code, reason, retryable, details } = error;
  // The message for an output that is not JSON names the tool only if the tool is known.
  const message = code === 'invalid_output' ? undefined : error.message;
  return { success, status, code, reason, retryable, details, message };
}

async function cancels({ session, waits }: ExecutorWorld): Promise<void> {
  const caller = new AbortController();
  const call = session.call('tested', {}, { signal: caller.signal });
  await waits;
  caller.abort();
  assert.equal(codeOf(await call), 'cancelled', 'Expected the call to end as cancelled');
  const next = await session.call('tested', {}, { timeoutMs: 500 });
  assert.equal(codeOf(next), 'timeout', 'Expected the next call to run until its timeout');
}

async function timesOut({ session }: ExecutorWorld): Promise<void> {
  const result = await session.call('tested', {}, { timeoutMs: 50 });
  assert.equal(codeOf(result), 'timeout', 'Expected the call to end as a timeout');
}

async function closes({ session, waits }: ExecutorWorld): Promise<void> {
  const call = session.call('tested', {});
  await waits;
  await session.close();
  assert.equal(codeOf(await call), 'session_closed', 'Expected the call to end with its session');
}

async function runsMany({ session }: ExecutorWorld): Promise<void> {
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const results = await Promise.all(
    numbers.map((value) => session.call('tested', { value }, { callId: `call-${value}` })),
  );
  assert.deepEqual(
    results.map(({ output }) => output),
    numbers,
    'Expected each call to get the answer to its own input',
  );
}

async function disposesTwice({ session, executor }: ExecutorWorld): Promise<void> {
  await session.call('tested', { value: 1 });
  await executor?.dispose?.();
  await executor?.dispose?.();
}

function codeOf(result: ToolResult): string | undefined {
  return result.success ? undefined : result.error.code;
}
