/** The contract of executors holds in this process, in threads and in processes. */
import { describe, expect, test } from 'vitest';
import { processExecutor, workerExecutor } from '../../../src/executors/sandbox/index.ts';
import type { Executor } from '../../../src/index.ts';
import { type ExecutorTask, executorConformance } from '../../../src/surfaces/testing/index.ts';

/** Runs the handler here. */
function inlineExecutor(task: ExecutorTask): Executor {
  return {
    kind: 'remote',
    execute: async (input, context) => {
      const members = (await import(task.module)) as Record<string, never>;
      const handler = members[task.export] as unknown as (...given: unknown[]) => unknown;
      return handler(input, context);
    },
  };
}

const executors: readonly (readonly [string, (task: ExecutorTask) => Executor])[] = [
  ['inline', inlineExecutor],
  ['worker', ({ module, export: name }) => workerExecutor({ module, export: name })],
  ['process', ({ module, export: name }) => processExecutor({ module, export: name })],
];

describe.each(executors)('%s', (kind, make) => {
  const rules = executorConformance(make);
  // An executor that gives a promise of a generator is not driven.
  const known = kind === 'inline' ? rules.filter(({ name }) => name !== 'a generator') : rules;
  test.each(known)('$name', ({ run }) => run());
});

describe('features', () => {
  test('rules about a feature that is not there are left out', () => {
    const all = executorConformance(inlineExecutor);
    const some = executorConformance(inlineExecutor, { features: { childCalls: false } });
    expect(all.some(({ feature }) => feature === 'childCalls')).toBe(true);
    expect(some).toEqual(all.filter(({ feature }) => feature !== 'childCalls').map(withAnyRun));
  });

  test('an unknown feature throws', () => {
    expect(() =>
      executorConformance(inlineExecutor, { features: { childCall: false } as never }),
    ).toThrow('executorConformance: unknown feature `childCall`; did you mean `childCalls`?');
  });
});

function withAnyRun<T extends object>(rule: T): T {
  return { ...rule, run: expect.any(Function) };
}
