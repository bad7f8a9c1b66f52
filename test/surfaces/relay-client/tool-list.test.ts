import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type JsonValue } from '../../../src/surfaces/relay-client/json.ts';
import { type RelayTool, relayTool } from '../../../src/surfaces/relay-client/tool.ts';
import {
  prepareTools,
  type ToolList,
  toolDifference,
} from '../../../src/surfaces/relay-client/tool-list.ts';

const tool = (name: string, more: object = {}): RelayTool => ({
  name,
  description: name,
  parameters: { type: 'object' },
  handler: () => name,
  ...more,
});
const known = ({ tools }: ToolList): Map<string, string> =>
  new Map([...tools].map(([name, { canonical }]) => [name, canonical]));

describe('a list of tools', () => {
  test.each<[string, unknown, RegExp]>([
    ['no list', { a: 1 }, /must be an array/],
    ['no tool', [null], /tools\[0\]\.name/],
    ['no name', [tool('')], /tools\[0\]\.name.*an empty string/],
    ['a name twice', [tool('a'), tool('a')], /Two tools are called "a"/],
    [
      'no handler',
      [tool('a', { handler: undefined })],
      /handler of "a" must be a function, not undefined/,
    ],
    ['no schema', [tool('a', { parameters: [] })], /parameters of "a".*not an array/],
    [
      'a misspelt field',
      [tool('a', { outputSchem: {} })],
      /tools\[0\]: unknown field `outputSchem`; did you mean `outputSchema`\?/,
    ],
    [
      'a misspelt hint',
      [tool('a', { annotations: { readonly: true } })],
      /tools\[0\]\.annotations: unknown field `readonly`; did you mean `readOnly`\?/,
    ],
    [
      'both names of the input',
      [tool('a', { inputSchema: { type: 'object' } })],
      /tool "a" has both `parameters` and `inputSchema`, .* Leave one of them out/,
    ],
    [
      'both names of the handler',
      [tool('a', { execute: () => 1 })],
      /tool "a" has both `handler` and `execute`/,
    ],
    [
      'a misspelt field beside the names of other libraries',
      [{ name: 'a', inputSchema: { type: 'object' }, execute: () => 1, descripton: 'a' }],
      /tools\[0\]: unknown field `descripton`; did you mean `description`\?/,
    ],
    [
      'a schema that is no JSON',
      [tool('a', { parameters: { n: 1n } })],
      /"a" cannot be written as JSON/,
    ],
  ])('is refused with %s', (_, tools, message) => {
    expect(() => prepareTools(tools as RelayTool[])).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringMatching(message) }),
    );
  });

  test('is the same with the names of other libraries, also for an object of a class', () => {
    class Counter {
      readonly name = 'a';
      readonly description = 'a';
      readonly inputSchema = { type: 'object' };
      calls = 0;
      execute(): number {
        this.calls++;
        return this.calls;
      }
    }
    const counter = new Counter();
    const inOtherWords = prepareTools([counter]);
    expect(inOtherWords.tools).toEqual(prepareTools([tool('a')]).tools);
    const run = inOtherWords.handlers.get('a');
    expect([run?.({}, {} as never), run?.({}, {} as never), counter.calls]).toEqual([1, 2, 2]);
    const typed = relayTool<{ path: string }>({
      name: 'a',
      description: 'a',
      inputSchema: { type: 'object' },
      execute: ({ path }) => path,
    });
    expect(Object.keys(typed).sort()).toEqual(['description', 'handler', 'name', 'parameters']);
    expect(typed.handler({ path: 'x' }, {} as never)).toBe('x');
  });

  test('is a copy: what changes later changes nothing', () => {
    const parameters = { type: 'object', required: ['a'] };
    const list = prepareTools([tool('a', { parameters })]);
    parameters.required.push('b');
    expect(list.tools.get('a')?.definition.parameters).toEqual({ type: 'object', required: ['a'] });
  });

  test('sends no handler and nothing unknown', () => {
    const [prepared] = prepareTools([tool('a', { title: 'A', secret: 'x' })]).tools.values();
    expect(prepared?.definition).toEqual({
      name: 'a',
      description: 'a',
      parameters: { type: 'object' },
      title: 'A',
    });
  });

  test('calls a handler as its tool', () => {
    const counter = {
      ...tool('a'),
      count: 3,
      handler(this: unknown) {
        return (this as { count: number }).count;
      },
    };
    expect(prepareTools([counter]).handlers.get('a')?.({}, {} as never)).toBe(3);
  });
});

describe('the difference of two lists', () => {
  test('is nothing for the same tools, in whatever order they and their keys are', () => {
    const a = prepareTools([
      tool('a', { parameters: { type: 'object', properties: { x: {}, y: {} } } }),
      tool('b'),
    ]);
    const b = prepareTools([
      tool('b'),
      tool('a', { parameters: { properties: { y: {}, x: {} }, type: 'object' } }),
    ]);
    expect(toolDifference(known(a), b.tools)).toBeUndefined();
  });

  test('names what was added, removed and modified', () => {
    const before = prepareTools([tool('a'), tool('b'), tool('c')]);
    const after = prepareTools([tool('b', { title: 'B' }), tool('c'), tool('d')]);
    const { added, removed, modified } = toolDifference(known(before), after.tools) ?? {};
    expect([added?.map(({ name }) => name), removed, modified?.map(({ title }) => title)]).toEqual([
      ['d'],
      ['a'],
      ['B'],
    ]);
  });

  test('applied to the first, is the second', () => {
    const list = fc
      .uniqueArray(
        fc.record({
          name: fc.constantFrom('a', 'b', 'c', 'd', '__proto__'),
          title: fc.constantFrom('1', '2'),
        }),
        { selector: ({ name }) => name },
      )
      .map((tools) => prepareTools(tools.map(({ name, title }) => tool(name, { title }))));
    fc.assert(
      fc.property(list, list, (before, after) => {
        const result = known(before);
        const difference = toolDifference(result, after.tools);
        for (const name of difference?.removed ?? []) expect(result.delete(name)).toBe(true);
        for (const definition of difference?.added ?? [])
          expect(result.has(definition.name as string)).toBe(false);
        for (const definition of difference?.modified ?? [])
          expect(result.has(definition.name as string)).toBe(true);
        for (const definition of [...(difference?.added ?? []), ...(difference?.modified ?? [])])
          result.set(definition.name as string, canonicalJson(definition));
        expect(new Map([...result].sort())).toEqual(new Map([...known(after)].sort()));
      }),
    );
  });
});

describe('canonical JSON', () => {
  const shuffled = (value: JsonValue): JsonValue =>
    Array.isArray(value)
      ? value.map(shuffled)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, item]) => [key, shuffled(item)]),
          )
        : value;
  const json = fc
    .jsonValue({ noUnicodeString: false })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

  test('is the same value, and the same text whatever the order of keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      }),
    );
  });
});
