/** Outputs whose content is not in their JSON are logged, once for each tool. */
import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { content, HostToolRegistry, jsonSchema, ok } from '../../../src/index.ts';
import { tool } from '../../core/call/world.ts';

interface Line {
  readonly data: { readonly toolName: string; readonly type: string };
  readonly message: string;
}

function open() {
  const lines: Line[] = [];
  const log = (data: Line['data'], message: string): unknown => lines.push({ data, message });
  const registry = new HostToolRegistry({ logger: { warn: log, error: log } });
  const run = async (returns: () => unknown, more: Record<string, unknown> = {}, times = 1) => {
    const made = tool(returns, more);
    const registration = registry.register(made as never);
    const session = registry.createSession({ sessionId: 's' });
    const results = [];
    for (let turn = 0; turn < times; turn++) results.push(await session.call(made.name, {}));
    registration.unregister();
    return results;
  };
  return { lines, registry, run };
}

class Hidden {
  #balance = 5;
  add(): number {
    return ++this.#balance;
  }
}
class WithGetter {
  first = 'Ann';
  #last = 'Lee';
  get name(): string {
    return `${this.first} ${this.#last}`;
  }
}
class Child extends WithGetter {
  age = 7;
}
class Bag {
  size = 2;
  *[Symbol.iterator](): Generator<number> {
    yield* [1, 2];
  }
}
class Pages {
  first = 1;
  async *[Symbol.asyncIterator](): AsyncGenerator<number> {
    yield 1;
  }
}
class Plain {
  name = 'Ann';
  greet(): string {
    return this.name;
  }
}
class Money {
  #cents = 5;
  toJSON(): object {
    return { cents: this.#cents };
  }
}

describe('an output that loses data', () => {
  test.each<[string, () => unknown, string, RegExp]>([
    [
      'a response',
      () => new Response('text'),
      'Response',
      /response\.json\(\).*response\.text\(\)/,
    ],
    ['a request', () => new Request('http://x.example'), 'Request', /text\(\)/],
    ['a buffer', () => Buffer.from('text'), 'Buffer', /base64.*content\.image/],
    ['a blob', () => new Blob(['text']), 'Blob', /blob\.text\(\)/],
    ['a file', () => new File(['text'], 'a.txt'), 'File', /blob\.text\(\)/],
    ['a stream of the web', () => new ReadableStream(), 'ReadableStream', /to its end/],
    ['headers', () => new Headers({ a: 'b' }), 'Headers', /Object\.fromEntries/],
    ['form data', () => new FormData(), 'FormData', /Object\.fromEntries/],
    ['a query', () => new URLSearchParams('a=1'), 'URLSearchParams', /Object\.fromEntries/],
    ['an iterator', () => [1][Symbol.iterator](), expect.any(String), /\[\.\.\.value\]/],
    ['a signal', () => new AbortController().signal, 'AbortSignal', /toJSON/],
    ['private fields only', () => new Hidden(), 'Hidden', /toJSON/],
    ['members behind getters', () => new WithGetter(), 'WithGetter', /toJSON/],
    ['inherited getters', () => new Child(), 'Child', /toJSON/],
    ['what it iterates', () => new Bag(), 'Bag', /\[\.\.\.value\]/],
    ['what it iterates later', () => new Pages(), 'Pages', /toJSON/],
    ['a map of another realm', () => runInNewContext('new Map([[1, 2]])'), 'Map', /fromEntries/],
    ['a number in an object', () => Object(5), 'Number', /toJSON/],
    ['a member', () => ({ pages: [{ body: new Response('x') }] }), 'Response', /text\(\)/],
    ['an outcome', () => ok(new Response('x')), 'Response', /text\(\)/],
    ['a promise of it', async () => new Response('x'), 'Response', /text\(\)/],
  ])('is named in the log, with what to return instead: %s', async (_, returns, type, advice) => {
    const { lines, run } = open();
    const [result] = await run(returns);
    expect(result?.success).toBe(true);
    expect(lines.map(({ data }) => data)).toMatchObject([{ type, source: 'output' }]);
    expect(lines[0]?.message).toMatch(/^an output of `tool_\d+` has an? /);
    expect(lines[0]?.message).toMatch(advice);
  });

  test('is named once for each tool, in whichever session', async () => {
    const { lines, registry, run } = open();
    await run(() => new Response('a'), {}, 5);
    await run(() => new Response('b'), {}, 2);
    expect(lines).toHaveLength(2);
    const mine = tool(() => new Blob(['x']), { name: 'mine' });
    for (const sessionId of ['a', 'b']) {
      const session = registry.createSession({ sessionId });
      session.register(mine as never);
      await session.call('mine', {});
    }
    expect(lines.map(({ data }) => data.toolName).filter((name) => name === 'mine')).toHaveLength(
      1,
    );
  });

  test('is named when it is cut, too', async () => {
    const { lines, run } = open();
    const [result] = await run(() => Buffer.alloc(10_000), { maxOutputChars: 300 });
    expect(result?.metadata.truncated).toBeDefined();
    expect(lines.map(({ data }) => data.type)).toEqual(['Buffer']);
  });

  test('needs no logger, and a class whose name cannot be read is an object', async () => {
    const registry = new HostToolRegistry();
    const odd = Object.create({
      get constructor() {
        throw new Error('no');
      },
    });
    registry.register(tool(() => ({ inner: odd }), { name: 'odd' }) as never);
    expect((await registry.createSession({ sessionId: 's' }).call('odd', {})).success).toBe(false);
    registry.register(tool(() => new Hidden(), { name: 'hidden' }) as never);
    expect((await registry.createSession({ sessionId: 's' }).call('hidden', {})).output).toEqual(
      {},
    );
  });
});

test.each<[string, () => unknown]>([
  ['a plain object', () => ({})],
  ['an object without a prototype', () => Object.assign(Object.create(null), { a: 1 })],
  ['an empty list', () => []],
  ['a list of a class of its own', () => new (class List extends Array<number> {})(3)],
  ['an object of another realm', () => runInNewContext('({ a: [{}] })')],
  ['public fields', () => new Plain()],
  ['many objects with public fields', () => Array.from({ length: 50 }, () => new Plain())],
  ['a date', () => ({ at: new Date(0) })],
  ['an address', () => new URL('http://x.example')],
  ['an own `toJSON`', () => new Money()],
  ['content', () => [content.text('a'), content.image('aGk=', 'image/png')]],
  ['a text', () => 'text'],
  ['nothing', () => undefined],
])('an output that is whole is not named: %s', async (_, returns) => {
  const { lines, run } = open();
  expect((await run(returns)).every(({ success }) => success)).toBe(true);
  expect(lines).toEqual([]);
});

test('what is refused is not named as well', async () => {
  const { lines, run } = open();
  for (const returns of [() => new Map([[1, 2]]), () => new Set([1]), () => Readable.from(['x'])])
    expect((await run(returns))[0]?.error?.code).toBe('invalid_output');
  expect(lines).toEqual([]);
});

test('neither is an input, nor what a schema makes of an output', async () => {
  const { lines, run } = open();
  const outputSchema = jsonSchema<{ a: number }>({ type: 'object' });
  await run(() => ({ a: 1 }), { outputSchema });
  expect(lines).toEqual([]);
});
