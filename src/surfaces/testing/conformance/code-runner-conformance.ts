/** The contract of what runs programs, as data: rules that any test runner can execute. */
import assert from 'node:assert/strict';
import type { CodeRunner, MaybePromise } from '../../../core.ts';
import { confined, repeatable } from './code-runner-confined.ts';
import { faults } from './code-runner-faults.ts';
import { type Ask, answer, fault, type RunnerRules, ran, value } from './code-runner-world.ts';
import { type PortRule, sleep } from './port-rule.ts';

const values: RunnerRules = {
  'what a program returns comes back as JSON': async (runner) => {
    assert.deepEqual(await value(runner, 'return { a: [1, "b", null, true], c: undefined }'), {
      a: [1, 'b', null, true],
    });
  },
  'a program that returns nothing gives null': async (runner) => {
    assert.equal(await value(runner, '1 + 1'), null);
    assert.equal(await value(runner, '// a comment at the end'), null);
  },
  'a result that is no JSON is a fault of the value': async (runner) => {
    assert.equal(await fault(runner, 'const a = {}; a.a = a; return a'), 'value');
    assert.equal(await fault(runner, 'return 10n'), 'value');
  },
  'what a program logs is heard line by line, also if it fails': async (runner) => {
    const { logs } = await ran(runner, 'console.log("a", { b: 1 }); console.error("c"); throw 1');
    assert.deepEqual(logs, ['a {"b":1}', 'c']);
  },
  'lines that were logged before a loop without end are heard': async (runner) => {
    const { logs } = await ran(runner, 'console.log("before"); while (true) {}');
    assert.deepEqual(logs, ['before']);
  },
  'a program that logs without end is heard for 8 000 characters': async (runner) => {
    const { logs } = await ran(
      runner,
      'for (let i = 0; i < 2000; i++) console.log("x".repeat(99))',
    );
    assert.ok(logs.join('\n').length <= 8_000);
  },
};

const calls: RunnerRules = {
  'a call has its name, its input and its line': async (runner) => {
    const { requests } = await ran(
      runner,
      'await tools.first({ a: 1 });\n\nawait tools["second.one"]();',
    );
    assert.deepEqual(requests, [
      { kind: 'call', name: 'first', input: '{"a":1}', line: 1 },
      { kind: 'call', name: 'second.one', input: '{}', line: 3 },
    ]);
  },
  'a call resolves to its answer': async (runner) => {
    assert.deepEqual(await value(runner, 'return await tools.a({ b: [1] })'), { b: [1] });
  },
  'a refused call throws an Error with code, reason, retryable and message': async (runner) => {
    const refuses: Ask = () => ({
      ok: false,
      error: { code: 'policy_denied', reason: 'no', retryable: false, message: 'Not now.' },
    });
    const source =
      'try { await tools.a() } catch (e) { ' +
      'return [e instanceof Error, e.code, e.reason, e.retryable, e.message] }';
    assert.deepEqual(await value(runner, source, {}, refuses), [
      true,
      'policy_denied',
      'no',
      false,
      'Not now.',
    ]);
    assert.equal(await fault(runner, '\nawait tools.a()', {}, refuses), 'thrown 2');
  },
  'calls run at once, and are asked for in order': async (runner) => {
    let most = 0;
    let now = 0;
    const slow: Ask = async ({ input }) => {
      most = Math.max(most, ++now);
      await sleep(5);
      now--;
      return answer(JSON.parse(input));
    };
    const source = 'return await Promise.all([1, 2, 3].map((n) => tools.a({ n })))';
    assert.deepEqual(await value(runner, source, {}, slow), [{ n: 1 }, { n: 2 }, { n: 3 }]);
    assert.equal(most, 3);
  },
  'a pause and a search are asked for as such': async (runner) => {
    const { requests } = await ran(runner, 'await tools.sleep(5); await tools.find("mail")');
    assert.deepEqual(
      requests.map(({ kind, name }) => [kind, name]),
      [
        ['sleep', 'sleep'],
        ['find', 'mail'],
      ],
    );
    assert.equal(requests[0]?.input, '5');
  },
  'an argument that is no JSON rejects without a call': async (runner) => {
    const { outcome, requests } = await ran(
      runner,
      'const a = {}; a.a = a; try { await tools.x(a) } catch (e) { return e.code }',
    );
    assert.deepEqual(outcome, { ok: true, value: '"invalid_input"' });
    assert.equal(requests.length, 0);
  },
  'calls beyond the limit reject, and the others run': async (runner) => {
    const limits = { cpuMs: 20_000, memoryMb: 64, maxCalls: 3 };
    const source =
      'const all = await Promise.allSettled(Array.from({ length: 10_000 }, (_, n) => tools.a()));' +
      'return [all.filter((one) => one.status === "fulfilled").length, all[9_999].reason.code]';
    assert.deepEqual(await value(runner, source, { limits }), [3, 'rate_limited']);
  },
  'nothing is asked once the program has ended': async (runner) => {
    const { requests } = await ran(
      runner,
      'const later = async () => { await null; await null; for (;;) await tools.a() };\n' +
        'void later(); return 1',
    );
    const before = requests.length;
    await sleep(20);
    assert.equal(requests.length, before);
  },
  'a program that does not wait for a call ends': async (runner) => {
    const never: Ask = () => new Promise(() => {});
    assert.equal(await value(runner, 'tools.a(); tools.b().then(() => 1); return 5', {}, never), 5);
  },
  'a program that waits for answers ends as waiting, once nothing more runs': async (runner) => {
    const waits: Ask = ({ name }) => (name === 'ask' ? 'waiting' : answer(name));
    const source =
      'const asked = tools.ask();\nfor (const name of ["a", "b"]) await tools[name]();\n' +
      'console.log("here"); await asked; console.log("never")';
    const { outcome, requests, logs } = await ran(runner, source, {}, waits);
    assert.ok(!outcome.ok && outcome.fault.kind === 'waiting');
    assert.deepEqual(
      requests.map(({ name }) => name),
      ['ask', 'a', 'b'],
    );
    assert.deepEqual(logs, ['here']);
  },
  '`await tools` and a walk over it call nothing': async (runner) => {
    const { requests } = await ran(
      runner,
      'await tools; JSON.stringify(tools); Object.keys(tools); return 1',
    );
    assert.deepEqual(requests, []);
  },
};

/**
 * The contract of a runner of programs: values, calls, faults, what a program cannot reach, and
 * that it can be repeated. Each rule makes a runner.
 *
 * @example
 * ```ts
 * import { codeRunnerConformance } from 'host-tools/testing';
 * import type { CodeRunner } from 'host-tools';
 * import { test } from 'vitest';
 *
 * declare function myRunner(): CodeRunner;
 * for (const rule of codeRunnerConformance(() => myRunner())) test(rule.name, rule.run);
 * ```
 */
export function codeRunnerConformance(make: () => MaybePromise<CodeRunner>): PortRule[] {
  const all: RunnerRules = { ...values, ...calls, ...faults, ...confined, ...repeatable };
  return Object.entries(all).map(([name, check]) => ({
    name,
    run: async () => check(await make()),
  }));
}
