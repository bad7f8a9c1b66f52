/** A module that is named by its folder: what its package.json says is loaded, as Node reads it. */
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools, loadHostToolsModule } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';
import { moduleText } from './modules.ts';

const right = moduleText(`export default tool('right');`);
const wrong = moduleText(`export default tool('wrong');`);
const load = async (files: Record<string, unknown>): Promise<readonly string[]> => {
  const { path } = folder(files);
  return (await loadHostToolsModule(path, new HostToolRegistry())).loaded;
};

describe('the file is', () => {
  test.each<[string, Record<string, unknown>]>([
    ['what `exports` names', { exports: './a.mjs' }],
    ['what `exports` names for `.`', { exports: { '.': './a.mjs', './b': './b.mjs' } }],
    [
      'what it names for an import',
      { exports: { '.': { require: './b.mjs', import: './a.mjs' } } },
    ],
    ['the first condition that holds', { exports: { browser: './b.mjs', default: './a.mjs' } }],
    ['that of `exports`, whatever `main` says', { exports: './a.mjs', main: './b.mjs' }],
    ['what `main` names', { main: './a.mjs' }],
    ['what `main` names without `./`', { main: 'a.mjs' }],
    ['what `main` names, for `exports` that are null', { main: 'a.mjs', exports: null }],
    ['what `main` names without its ending', { type: 'module', main: './lib/a' }],
    ['the index.js of what `main` names', { type: 'module', main: './lib' }],
    ['index.js without both', { type: 'module' }],
    ['index.js with an empty `main`', { type: 'module', main: '' }],
    ['index.js where `main` names nothing', { type: 'module', main: './gone.js' }],
  ])('%s', async (_, manifest) => {
    const named = JSON.stringify(manifest);
    const isLeft = (file: string): string => (named.includes(file) ? right : wrong);
    expect(
      await load({
        'package.json': manifest,
        'a.mjs': right,
        'b.mjs': wrong,
        'lib/a.js': isLeft('lib/a'),
        'lib/index.js': named.includes('lib/a') ? wrong : right,
        'index.js': /"main":"(\.\/lib|a|\.\/a)/.test(named) ? wrong : right,
      }),
    ).toEqual(['right']);
  });

  test('index.js of a folder without a package.json', async () => {
    expect(
      await load({ 'index.js': `import('node:fs'); module.exports = {};` }).catch(
        (error: Error) => error.message,
      ),
    ).toContain('it exports');
  });
});

describe('the folder may be named', () => {
  test('by a file URL', async () => {
    const { path } = folder({ 'package.json': { main: 'a.mjs' }, 'a.mjs': right });
    const { loaded, file } = await loadHostToolsModule(pathToFileURL(path), new HostToolRegistry());
    expect(loaded).toEqual(['right']);
    expect(file).toBe(`${path}/a.mjs`);
  });

  test('by `module` of a file of tools', async () => {
    const { at } = folder({
      'tools.json': {
        tools: [
          {
            name: 'a',
            description: 'A.',
            module: './plugin',
            function: 'run',
            parameters: { type: 'object' },
          },
        ],
      },
      'plugin/package.json': { main: 'a.mjs' },
      'plugin/a.mjs': `export const run = () => 'ran';`,
    });
    const { loaded, failed } = await loadHostTools(at('tools.json'), new HostToolRegistry());
    expect(failed).toEqual([]);
    expect(loaded).toEqual(['a']);
  });
});

describe('is refused, with what to do:', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['an empty folder', {}, /neither a package\.json nor an index\.js. Give the module's file/],
    ['nothing named', { 'package.json': {} }, /has neither `exports` nor `main`, .*Add `"main"`/],
    ['a package.json that is no JSON', { 'package.json': '{' }, /package\.json cannot be read: /],
    ['one that is no object', { 'package.json': '[]' }, /cannot be read: expected an object, got/],
    ['a `main` that is no text', { 'package.json': { main: 5 } }, /expected `main` in .*, got `5`/],
    [
      'a `main` that was not built',
      { 'package.json': { main: './dist/a.js' } },
      /`main` in .* names `\.\/dist\/a\.js`, but there is no file .*build the package first/,
    ],
    ['a `main` outside', { 'package.json': { main: '../a.js' } }, /leads out of the folder/],
    [
      '`exports` that were not built',
      { 'package.json': { exports: './dist/a.js' } },
      /`exports` in .* names `\.\/dist\/a\.js`, but there is no file/,
    ],
    [
      '`exports` without `.`',
      { 'package.json': { exports: { './a': './a.mjs' }, main: './a.mjs' }, 'a.mjs': right },
      /gives an import of the package \(`\.`\) no file/,
    ],
    [
      '`exports` for `require` only',
      { 'package.json': { exports: { require: './a.mjs' } }, 'a.mjs': right },
      /gives an import of the package \(`\.`\) no file/,
    ],
    [
      '`exports` outside',
      { 'package.json': { exports: './../a.js' } },
      /name a file of the folder/,
    ],
    ['`exports` of another package', { 'package.json': { exports: 'x' } }, /starting with `\.\/`/],
  ])('%s', async (_, files, message) => {
    await expect(load(files)).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
  });

  test('a folder that is named as a package is', async () => {
    await expect(loadHostToolsModule('src', new HostToolRegistry())).rejects.toThrow(
      /no package `src` .*\. For the folder, write `\.\/src`/,
    );
  });
});
