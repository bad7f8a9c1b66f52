/** How programs fail, and what their limits are: rules for runners of programs. */
import assert from 'node:assert/strict';
import { type Ask, answer, fault, type RunnerRules, ran, value } from './code-runner-world.ts';
import { sleep, upTo } from './port-rule.ts';

export const faults: RunnerRules = {
  'what cannot be read is a syntax error with its line, and has not begun': async (runner) => {
    const { outcome, begun } = await ran(runner, 'const a = 1;\nlet b = ;');
    assert.ok(!outcome.ok);
    assert.equal(outcome.fault.kind, 'syntax');
    assert.equal(outcome.fault.line, 2);
    assert.equal(begun, 0);
    assert.equal(await fault(runner, 'import fs from "node:fs";'), 'syntax 1');
  },
  'an `import()` that a program does not catch is a syntax error with its line': async (runner) => {
    assert.equal(await fault(runner, '\nawait import("node:fs")'), 'syntax 2');
  },
  'an error has the line on which it was thrown': async (runner) => {
    assert.equal(await fault(runner, 'const a = 1;\n\nthrow new Error("x")'), 'thrown 3');
    assert.equal(await fault(runner, 'const f = (a) =>\n  a.b.c;\nreturn f({})'), 'thrown 2');
    assert.equal(await fault(runner, 'JSON.parse("{")'), 'thrown 1');
  },
  'a loop without end is over its time': async (runner) => {
    const limits = { cpuMs: 200, memoryMb: 64, maxCalls: 1 };
    assert.equal(await fault(runner, 'while (true) {}', { limits }), 'cpu');
    assert.equal(await fault(runner, 'for (;;) await null', { limits }), 'cpu');
  },
  'a loop without end is over its time while a call is answered': async (runner) => {
    const limits = { cpuMs: 200, memoryMb: 64, maxCalls: 1 };
    const never: Ask = () => new Promise(() => {});
    assert.equal(
      await fault(runner, 'tools.a(); await null; for (;;) {}', { limits }, never),
      'cpu',
    );
  },
  'the time of answers is no time of computing': async (runner) => {
    const limits = { cpuMs: 100, memoryMb: 64, maxCalls: 10 };
    const slow: Ask = async () => {
      await sleep(400);
      return answer(1);
    };
    assert.equal(await value(runner, 'return await tools.a()', { limits }, slow), 1);
  },
  'a program that needs too much memory is ended': async (runner) => {
    const limits = { cpuMs: 10_000, memoryMb: 16, maxCalls: 1 };
    const source = 'const a = []; for (;;) a.push(new Array(10_000).fill(7))';
    assert.match(await fault(runner, source, { limits }), /^memory/);
  },
  'a recursion without end is ended': async (runner) => {
    assert.match(await fault(runner, 'const f = () => 1 + f(); return f()'), /^stack/);
  },
  'a signal ends the program': async (runner) => {
    const stop = new AbortController();
    const asked: Ask = () => {
      stop.abort();
      return new Promise(() => {});
    };
    const { signal } = stop;
    assert.equal(await fault(runner, 'await tools.a()', { signal }, asked), 'stopped');
    assert.equal(await fault(runner, 'return 1', { signal }), 'stopped');
  },
  'after each fault, the next program runs': async (runner) => {
    for (const source of ['while (true) {}', 'let b = ;', 'throw 1', 'tools.a(); return 1']) {
      await ran(runner, source, { limits: { cpuMs: 100, memoryMb: 64, maxCalls: 1 } });
      assert.equal(await value(runner, 'return 7'), 7);
    }
  },
  'twenty programs at once all end': async (runner) => {
    const all = await Promise.all(
      upTo(20).map((n) => value(runner, `return await tools.a(${JSON.stringify({ n })})`)),
    );
    assert.deepEqual(
      all,
      upTo(20).map((n) => ({ n })),
    );
  },
};
