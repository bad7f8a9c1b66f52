/** What a program cannot reach, and that it can be repeated: rules for runners of programs. */
import assert from 'node:assert/strict';
import { type Ask, answer, type RunnerRules, ran, value } from './code-runner-world.ts';
import { sleep, upTo } from './port-rule.ts';

/** What a program must not reach. Each gives `undefined`, or throws. */
const absent = [
  'process',
  'require',
  'module',
  'Buffer',
  'global',
  'fetch',
  'XMLHttpRequest',
  'WebSocket',
  'Worker',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'performance',
  'crypto',
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'Intl',
  'Deno',
  'Bun',
  'std',
  'os',
  'scriptArgs',
  'print',
  'globalThis.process',
];

/** Ways to run text as code, or to reach what is outside. */
const escapes = [
  'eval("1")',
  '(0, eval)("1")',
  'new Function("return 1")()',
  'Function("return 1")()',
  'globalThis.constructor.constructor("return 1")()',
  '(() => {}).constructor("return 1")()',
  '(async () => {}).constructor("return 1")()',
  '(function* () {}).constructor("yield 1")()',
  '(async function* () {}).constructor("yield 1")()',
  'Reflect.construct(Object.getPrototypeOf(async () => {}).constructor, ["return 1"])()',
  'tools.a.constructor("return 1")()',
  'tools.constructor.constructor("return 1")().then()',
  'console.log.constructor("return process")()',
  'Error.prepareStackTrace.constructor("return 1")()',
  'await import("node:fs")',
  'await import("data:text/javascript,export default 1")',
];

export const confined: RunnerRules = {
  'a program sees no host, no network, no timers and no clock': async (runner) => {
    const source =
      "const at = (name) => name.split('.').reduce((one, key) => one?.[key], globalThis);\n" +
      `return ${JSON.stringify(absent)}.filter((name) => at(name) !== undefined)`;
    assert.deepEqual(await value(runner, source), []);
  },
  'no text becomes code': async (runner) => {
    for (const way of escapes) {
      const { outcome } = await ran(runner, `return typeof (${way})`);
      assert.ok(!outcome.ok, `Expected \`${way}\` to throw, got ${JSON.stringify(outcome)}`);
    }
  },
  'the prototypes of one program are not those of the next': async (runner) => {
    await ran(
      runner,
      'globalThis.leak = 1; try { Array.prototype.leak = 1 } catch {}' +
        'try { Object.prototype.leak = 1 } catch {}' +
        'try { Object.getPrototypeOf([][Symbol.iterator]()).leak = 1 } catch {}',
    );
    assert.equal(
      await value(
        runner,
        'return [typeof leak, [].leak, {}.leak, [][Symbol.iterator]().leak].join()',
      ),
      'undefined,,,',
    );
  },
  'a program cannot replace `tools`, and loses nothing by trying': async (runner) => {
    const source =
      'try { globalThis.tools = { a: () => "mine" } } catch {}' +
      'try { tools.a = () => "mine" } catch {} return await tools.a({ b: 1 })';
    assert.deepEqual(await value(runner, source), { b: 1 });
  },
  'what a program patches changes no call': async (runner) => {
    const source =
      'try { JSON.stringify = () => "{}"; JSON.parse = () => 1 } catch {}' +
      'try { Promise.prototype.then = () => 1 } catch {}' +
      'try { String.prototype.split = () => [] } catch {}' +
      'try { Error.prepareStackTrace = () => "run.js:999" } catch {}\n' +
      'return await tools.a({ b: 1 })';
    const { outcome, requests } = await ran(runner, source);
    assert.deepEqual(outcome, { ok: true, value: '{"b":1}' });
    assert.deepEqual(requests, [{ kind: 'call', name: 'a', input: '{"b":1}', line: 2 }]);
  },
  "a name with a prototype's name is a name": async (runner) => {
    const { requests } = await ran(
      runner,
      'for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"])' +
        ' await tools[name]({})',
    );
    assert.deepEqual(
      requests.map(({ name }) => name),
      ['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
    );
  },
  'an answer with a `then`, a `toJSON` or a `__proto__` is data': async (runner) => {
    const hostile = '{"then":{"a":1},"toJSON":2,"__proto__":{"polluted":true},"x":3}';
    const source =
      'const a = await tools.a(); return [a.x, a.polluted === undefined, {}.polluted, ' +
      'Object.keys(a).sort()]';
    const given: Ask = () => ({ ok: true, value: hostile });
    assert.deepEqual(await value(runner, source, {}, given), [
      3,
      true,
      null,
      ['__proto__', 'then', 'toJSON', 'x'],
    ]);
  },
};

const clock =
  'await tools.a(); const parts = [Date.now(), new Date().getTime(), Date(), Math.random(), ' +
  'Math.random(), new Date().constructor.now(), new Date().getTimezoneOffset(), ' +
  'Reflect.construct(globalThis.Date, []).getTime()]; await tools.a(); ' +
  'return [...parts, Date.now(), Math.random()]';

export const repeatable: RunnerRules = {
  'a program sees the time that it is given, however long its calls take': async (runner) => {
    const slow: Ask = async () => {
      await sleep(30);
      return answer(1);
    };
    const first = await value(runner, clock);
    assert.deepEqual(await value(runner, clock, {}, slow), first);
    const [now] = first as number[];
    assert.ok(Math.abs((now as number) - 1_700_000_000_000) < 100, `Expected the time, got ${now}`);
  },
  'another seed gives other random numbers': async (runner) => {
    const source = 'return Math.random()';
    assert.notEqual(await value(runner, source, { seed: 'b' }), await value(runner, source));
  },
  'programs at once do not share their clocks': async (runner) => {
    const times = upTo(8).map((n) => 1_000_000_000_000 + n * 1_000_000);
    const seen = await Promise.all(
      times.map((now) => value(runner, 'await tools.a(); return Date.now()', { now })),
    );
    assert.deepEqual(
      seen.map((time) => Math.floor((time as number) / 1_000_000)),
      times.map((time) => Math.floor(time / 1_000_000)),
    );
  },
};
