import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { faultText } from '../../../src/surfaces/config/import-module.ts';
import { loadHostTools, loadHostToolsModule } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';
import { moduleText } from './modules.ts';

const taken = defineTool({
  name: 'taken',
  description: 'Taken.',
  parameters: { type: 'object' },
  handler: () => 'mine',
});

async function load(body: string, registry = new HostToolRegistry()) {
  const { at } = folder({ 'm.mjs': moduleText(body) });
  return { registry, path: at('m.mjs'), report: await loadHostToolsModule(at('m.mjs'), registry) };
}

describe('a set-up function', () => {
  test.each([
    [
      'setupHostTools, sync',
      `export function setupHostTools(registry) { registry.register(tool('a')); ` +
        `registry.registerAll([tool('b')]); }`,
    ],
    [
      'setupHostTools, async',
      'export async function setupHostTools(registry) { await null; ' +
        `registry.register(tool('a')); registry.registerOrReplace(tool('b')); }`,
    ],
    [
      'setup_host_tools',
      `export const setup_host_tools = (registry) => { registry.registerAll([tool('a'), ` +
        `tool('b')]); };`,
    ],
    [
      'the default export',
      `export default async (registry) => { registry.registerAll([tool('a'), tool('b')]); };`,
    ],
    [
      'of an object that is the default export',
      `export default { setupHostTools(registry) { registry.registerAll([tool('a'), ` +
        `tool('b')]); } };`,
    ],
  ])('%s sets the registry up', async (_, body) => {
    const { registry, report, path } = await load(body);
    expect(report).toEqual({ file: path, loaded: ['a', 'b'], failed: [] });
    expect(registry.listNames()).toEqual(['a', 'b']);
  });

  test('setupHostTools alone counts where there is one', async () => {
    const { report } = await load(
      `export const setupHostTools = (registry) => { registry.register(tool('a')); }; export ` +
        `const b = tool('b'); export default tool('c');`,
    );
    expect(report.loaded).toEqual(['a']);
  });

  test(
    'beside a default set-up function, named definitions that it has not registered itself load ' +
      'too',
    async () => {
      const { report } = await load(
        `export const a = tool('a'); export const b = tool('b'); export default (registry) => { ` +
          'registry.register(b); };',
      );
      expect(report).toMatchObject({ loaded: ['b', 'a'], failed: [] });
    },
  );

  test('it gets the registry: its reads, listeners and scopes are the registry’s', async () => {
    const registry = new HostToolRegistry();
    registry.register(taken);
    const { report } = await load(
      `import { HostToolRegistry } from ${JSON.stringify(new URL('../../../src/index.ts', import.meta.url).href)};
       export async function setupHostTools(registry) {
         if (!(registry instanceof HostToolRegistry) || registry.count !== 1 || registry.get('taken') === undefined) throw new Error('not the registry');
         const registration = registry.register(tool('a'));
         registration.disable();
         registry.register(tool('gone')).unregister();
         registry.events.on('tools:changed', () => {});
         registry.defineProfile({ id: 'p', tools: ['a'] });
         registry.createSession({ sessionId: 's', profile: 'p' });
       }`,
      registry,
    );
    expect(report.loaded).toEqual(['a']);
    expect(registry.profile('p')).toBeDefined();
  });

  test.each([
    [
      'throws',
      `throw new Error('no database')`,
      /its set-up failed: no database \(at .*m\.mjs:\d+:\d+\); everything it had registered was removed again/,
    ],
    ['rejects', `await Promise.reject('text')`, /its set-up failed: text/],
    ['throws nothing at all', 'throw undefined', /its set-up failed: undefined/],
    [
      'registers a name that is taken',
      `registry.register(tool('taken'))`,
      /its set-up failed: Tool `taken` is already registered.* \(at .*m\.mjs:\d+:\d+\)/,
    ],
  ])('one that %s leaves nothing behind, and the load rejects', async (_, fault, message) => {
    const registry = new HostToolRegistry();
    registry.register(taken);
    registry.defineProfile({ id: 'old', tools: ['taken'] });
    const body = `export async function setupHostTools(registry) {
      registry.register(tool('a'));
      registry.registerAll([tool('b'), tool('c')]);
      registry.registerOrReplace(tool('taken'));
      registry.registerOrReplace(tool('d'));
      registry.addRules([{ effect: 'deny' }]);
      registry.defineProfile({ id: 'new', tools: ['a'] });
      registry.defineProfile({ id: 'old', tools: [] });
      registry.scope('plugin').register(tool('e'));
      ${fault};
    }`;
    const { at } = folder({ 'm.mjs': moduleText(body) });
    const other = defineTool({
      name: 'other',
      description: 'Of somebody else, meanwhile.',
      parameters: { type: 'object' },
      handler: () => 'other',
    });
    const loading = loadHostToolsModule(at('m.mjs'), registry);
    registry.register(other);
    await expect(loading).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
    await expect(loading).rejects.toMatchObject({ message: expect.stringContaining(at('m.mjs')) });
    expect(registry.listNames()).toEqual(['taken', 'other']);
    expect(registry.get('taken')).toBe(taken);
    expect(registry.profile('new')).toBeUndefined();
    expect(registry.profile('old')).toEqual({ id: 'old', tools: ['taken'] });
    expect(
      (
        await registry
          .createSession({ sessionId: 's', services: undefined, profile: 'old' })
          .call('taken', {})
      ).output,
    ).toBe('mine');
    expect(() => registry.scope('plugin')).not.toThrow();
  });

  test('a file that it loads goes into the registry; a failure removes it again', async () => {
    const config = new URL('../../../src/surfaces/config/index.ts', import.meta.url).href;
    const setUp = (end: string): string =>
      `import { loadHostTools } from ${JSON.stringify(config)};
       export async function setupHostTools(registry) { await loadHostTools(new URL('./a.json', import.meta.url), registry); ${end} }`;
    const { at } = folder({
      'a.json': {
        tools: [{ name: 'a', description: 'A.', module: './h.mjs' }],
        rules: [{ effect: 'deny' }],
      },
      'h.mjs': 'export default () => 1',
      'good.mjs': setUp(''),
      'bad.mjs': setUp('throw new Error("late");'),
    });
    const registry = new HostToolRegistry();
    await expect(loadHostToolsModule(at('bad.mjs'), registry)).rejects.toMatchObject({
      code: 'invalid_file',
    });
    expect(registry.count).toBe(0);
    expect((await loadHostToolsModule(at('good.mjs'), registry)).loaded).toEqual(['a']);
    expect((await loadHostTools(at('a.json'), registry)).failed).toEqual([]);
    expect(
      (await registry.createSession({ sessionId: 's', services: undefined }).call('a', {})).error
        ?.code,
    ).toBe('policy_denied');
  });

  test('what is no function is refused', async () => {
    await expect(load('export const setupHostTools = 3;')).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(/`setupHostTools` to be a function, got `3`/),
    });
  });
});

describe('definitions', () => {
  test.each([
    ['a default export', `export default tool('a');`, ['a']],
    ['a list as the default export', `export default [tool('b'), tool('a')];`, ['b', 'a']],
    [
      'named exports, by code unit of their names',
      `export const y = tool('a'); export const x = tool('b'); export const z = 3;`,
      ['b', 'a'],
    ],
    [
      'the default export first',
      `export const a = tool('a'); export default tool('z');`,
      ['z', 'a'],
    ],
    [
      'one under two names, once',
      `export const a = tool('a'); export { a as b, a as default };`,
      ['a'],
    ],
    ['members of an object that is the default export', `export default { a: tool('a') };`, ['a']],
  ])('%s', async (_, body, names) => {
    const { registry, report } = await load(body);
    expect(report).toMatchObject({ loaded: names, failed: [] });
    expect(registry.listNames()).toEqual(names);
  });

  test('one that cannot be registered is reported; the others load', async () => {
    const registry = new HostToolRegistry();
    registry.register(taken);
    const { report, path } = await load(
      `export const a = tool('a'); export const b = tool('taken'); export const c = { name: ` +
        `'alien', [Symbol.for('host-tools.definition')]: true }; export const d = tool('d');`,
      registry,
    );
    expect(report.loaded).toEqual(['a', 'd']);
    expect(report.failed).toEqual([
      {
        index: 1,
        name: 'taken',
        section: 'tools',
        file: path,
        reason: expect.stringContaining('already registered'),
      },
      {
        index: 2,
        name: 'alien',
        section: 'tools',
        file: path,
        reason: expect.stringContaining('another installed copy'),
      },
    ]);
  });

  test('what is no definition in a list is reported', async () => {
    const { report } = await load(`export default [tool('a'), 3, { name: 'x' }];`);
    expect(report).toMatchObject({
      loaded: ['a'],
      failed: [
        { index: 1, name: 'default' },
        { index: 2, name: 'default' },
      ],
    });
  });

  test('a closed registry rejects: closed', async () => {
    const registry = new HostToolRegistry();
    await registry.close();
    await expect(load(`export const a = tool('a');`, registry)).rejects.toMatchObject({
      code: 'closed',
    });
  });
});

describe('which module', () => {
  const files = { 'm.mjs': moduleText(`export default tool('a');`) };

  test.each([
    ['an absolute path', (path: string) => path],
    ['a path relative to the working folder', (path: string) => relative(process.cwd(), path)],
    ['a file URL', (path: string) => pathToFileURL(path)],
    ['the text of a file URL', (path: string) => pathToFileURL(path).href],
  ])('is named by %s', async (_, by) => {
    const { at } = folder(files);
    expect((await loadHostToolsModule(by(at('m.mjs')), new HostToolRegistry())).loaded).toEqual([
      'a',
    ]);
  });

  test('or is a package as code in the working folder would import it', async () => {
    await expect(loadHostToolsModule('fast-check', new HostToolRegistry())).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(/fast-check.*expected it to export `setupHostTools/),
    });
  });

  test.each([
    ['one that is not there', './gone.mjs', /Cannot load `\.\/gone\.mjs`: there is no file/],
    ['a package that is not there', 'no-such-package-here', /no package `no-such-package-here`/],
    ['a built-in module', 'node:fs', /is refused/],
    ['a web address', 'https://example.com/a.mjs', /is refused/],
  ])('%s is refused', async (_, specifier, message) => {
    await expect(loadHostToolsModule(specifier, new HostToolRegistry())).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
  });

  test.each([
    [
      'nothing',
      'export {};',
      /expected it to export `setupHostTools\(registry\)`, or definitions made by defineTool\(\).*; it exports nothing/,
    ],
    ['other things', 'export const a = 1; export default {};', /it exports a, default/],
    [
      'a set-up under a near name',
      'export const setupHostTool = () => {};',
      /named exports\. Did you mean `setupHostTool` to be `setupHostTools`\?$/,
    ],
    [
      'a list under a name, which is not the default export',
      `export const tools = [tool('a')];`,
      /named exports; `tools` is a list: make it the default export\.$/,
    ],
    [
      'a value under a near name',
      'export const hostTools = 5;',
      /named exports; it exports hostTools\.$/,
    ],
    ['a throw', `throw new Error('no database')`, /^Cannot load the module \S+: no database/],
  ])('one that exports %s is refused', async (_, body, message) => {
    await expect(load(body)).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
  });

  test('one in TypeScript, which this Node cannot run, is refused with the remedy', () => {
    const unknown = Object.assign(new TypeError('Unknown file extension ".ts" for /a/tools.ts'), {
      code: 'ERR_UNKNOWN_FILE_EXTENSION',
    });
    expect(faultText(unknown, '/a/tools.ts')).toBe(
      'Unknown file extension ".ts" for /a/tools.ts; compile it to JavaScript, or use Node 22.18 ' +
        'or newer, which runs TypeScript',
    );
    expect(faultText(unknown, '/a/tools.txt')).not.toContain('compile');
  });

  test.each([undefined, '', 3, 'a\0b'])('%j: invalid_option', async (specifier) => {
    await expect(
      loadHostToolsModule(specifier as string, new HostToolRegistry()),
    ).rejects.toMatchObject({ code: 'invalid_option' });
  });
});
