/** The key `code` of files: code mode for the sessions of a registry. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HostToolRegistry as CoreRegistry, defineTool } from '../../../src/core.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { readCode } from '../../../src/parts/code/settings.ts';
import { codeEntry } from '../../../src/surfaces/config/code-format.ts';
import { loadHostTools, loadProfiles, watchHostTools } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const module = './handlers.mjs';
const add = { name: 'add', description: 'Adds.', module, function: 'add' };
const handlers = { 'handlers.mjs': 'export const add = () => 3;' };
const at = (file: object): string =>
  folder({ 'a.json': { ...file, tools: [add] }, ...handlers }).at('a.json');

const shown = (registry: HostToolRegistry, more: object = {}): readonly string[] =>
  registry
    .createSession({ sessionId: 's', ...more })
    .tools()
    .map(({ name }) => name);

const toolNamed = (name: string) =>
  defineTool({ name, description: 'Some tool.', parameters: z.object({}), handler: () => 1 });

describe('a file with `code`', () => {
  test('gives sessions of its registry code mode, unless they say otherwise', async () => {
    const registry = new HostToolRegistry();
    expect(await loadHostTools(at({ code: true }), registry)).toMatchObject({ failed: [] });
    expect(shown(registry)).toEqual(['run_code']);
    expect(shown(registry, { code: false })).toEqual(['add']);
    expect(shown(registry, { code: { name: 'program', show: 'both' } })).toEqual([
      'add',
      'program',
    ]);
    const session = registry.createSession({ sessionId: 's' });
    const code = 'return (await tools.add({})) + 1;';
    expect((await session.call('run_code', { code })).output).toBe(4);
  });

  test('may have options, which are those of `createSession`', async () => {
    const registry = new HostToolRegistry();
    await loadHostTools(at({ code: { name: 'program', show: 'both', maxCalls: 1 } }), registry);
    expect(shown(registry)).toEqual(['add', 'program']);
    const session = registry.createSession({ sessionId: 's' });
    const code = 'await tools.add({}); await tools.add({});';
    expect((await session.call('program', { code })).error?.message).toContain(
      'The program has made 1 calls, and may make no more',
    );
  });

  test.each([false, null])('of %j has no code mode', async (code) => {
    const registry = new CoreRegistry();
    await loadHostTools(at({ code }), registry);
    expect(shown(registry)).toEqual(['add']);
  });

  test('loads no profile with it', async () => {
    const registry = new HostToolRegistry();
    await loadProfiles(at({ code: true }), registry);
    expect(shown(registry)).toEqual([]);
  });
});

describe('what is wrong is said, with its line', () => {
  test.each([
    [2, 'yes', 'expected true, false or an object of options, got `yes` (string)'],
    [3, { timeoutMS: 1 }, 'unknown key `timeoutMS`; did you mean `timeoutMs`?'],
    [3, { memoryMb: 8 }, '`memoryMb`: expected a number from 16, got `8` (number)'],
    [3, { maxCalls: 1.5 }, '`maxCalls`: expected a whole number, got `1.5` (number)'],
    [3, { show: 'none' }, '`show`: expected `code` or `both`, got `none` (string)'],
    [2, { name: '__proto__' }, 'not to be the reserved word'],
  ])('line %i: %j', async (line, code, said) => {
    const registry = new HostToolRegistry();
    const { failed, loaded } = await loadHostTools(at({ code }), registry);
    expect(failed).toMatchObject([{ section: 'code', line }]);
    expect(failed[0]?.reason).toContain(said);
    expect(loaded).toEqual(['add']);
    expect(shown(registry)).toEqual(['add']);
  });

  test('a second file with it', async () => {
    const registry = new HostToolRegistry();
    const first = at({ code: true });
    await loadHostTools(first, registry);
    const second = folder({ 'b.json': { code: { maxCalls: 5 } } }).at('b.json');
    expect((await loadHostTools(second, registry)).failed).toMatchObject([
      { section: 'code', reason: `the file \`${first}\` already has \`code\`` },
    ]);
    expect((await loadHostTools(first, registry)).failed).toEqual([]);
  });

  test('a registry that has opened a session without the part', async () => {
    const registry = new CoreRegistry();
    registry.createSession({ sessionId: 's' });
    const { failed } = await loadHostTools(
      folder({ 'b.json': { code: true } }).at('b.json'),
      registry,
    );
    expect(failed[0]?.reason).toContain('codeMode');
  });
});

describe('names that mean something else in programs', () => {
  test.each(['run_code', 'sleep', 'find'])('a tool `%s` of the registry', async (name) => {
    const registry = new HostToolRegistry();
    registry.register(toolNamed(name));
    const { failed } = await loadHostTools(at({ code: true }), registry);
    expect(failed).toMatchObject([{ section: 'code' }]);
    expect(failed[0]?.reason).toContain(`the registry has a tool \`${name}\``);
  });

  test('a tool of the file, and one that comes later, which leave sessions as they are', async () => {
    const registry = new HostToolRegistry();
    const tools = [add, { ...add, name: 'sleep' }];
    const file = folder({ 'a.json': { code: true, tools }, ...handlers }).at('a.json');
    const { failed, loaded } = await loadHostTools(file, registry);
    expect(failed).toMatchObject([{ section: 'tools', name: 'sleep' }]);
    expect(loaded).toEqual(['add']);
    expect(() => registry.register(toolNamed('find'))).toThrow(
      'is reserved: it has a meaning in code mode',
    );
    expect(shown(registry)).toEqual(['run_code']);
  });
});

test('an edit holds for sessions that open from then on', async () => {
  const files = folder({ 'a.json': { tools: [add], code: true }, ...handlers });
  const registry = new HostToolRegistry();
  let reloads = 0;
  const watch = watchHostTools(files.at('a.json'), registry, {
    debounceMs: 5,
    onReload: () => void reloads++,
  });
  try {
    await watch;
    const before = registry.createSession({ sessionId: 's' });
    files.write({ 'a.json': { tools: [add, { ...add, name: 'other' }] } });
    await expect.poll(() => reloads, { timeout: 30_000 }).toBe(1);
    expect(shown(registry).toSorted()).toEqual(['add', 'other']);
    expect(before.tools().map(({ name }) => name)).toEqual(['run_code']);
  } finally {
    watch.close();
  }
});

/** Values around the limits of each option. */
const values = [0, 0.5, 1, 15, 16, 99, 100, 101, 1_024, 1_025, 10_000, 10_001, 59_999, 60_000];
const more = [1_000_000, 1_000_001, 2 ** 31 - 1, 2 ** 31, 'a', '', 'a'.repeat(65), 'code', true];

test('a file takes exactly the options that a session takes', () => {
  const [, options] = codeEntry.options;
  const names = Object.keys(options.shape);
  expect(names.toSorted()).toEqual(Object.keys(readCode(true, 'x') ?? {}).toSorted());
  const takes = (name: string, value: unknown): boolean => {
    try {
      return readCode({ [name]: value }, 'x') !== undefined;
    } catch {
      return false;
    }
  };
  for (const name of names)
    for (const value of [...values, ...more])
      expect([name, value, codeEntry.safeParse({ [name]: value }).success]).toEqual([
        name,
        value,
        takes(name, value),
      ]);
});
