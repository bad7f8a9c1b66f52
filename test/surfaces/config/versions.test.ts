/** Several versions of a tool in files, and edits of their versions. */
import { expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { recordRegistry } from '../../../src/surfaces/config/recording-registry.ts';
import { folder } from './folder.ts';

const git = (version: string, description = 'Runs Git.') => ({
  name: 'git',
  description,
  version,
  module: './m.mjs',
});
const ls = { name: 'ls', description: 'Lists.', module: './m.mjs' };
const module = 'export default () => null;';
const versionsIn = (registry: HostToolRegistry) =>
  registry.listTools().map(({ name, version, description }) => [name, version, description]);
const inCode = (version: string) =>
  defineTool({
    name: 'git',
    description: 'In code.',
    version,
    parameters: { type: 'object' },
    handler: () => null,
  });

test('a file has versions side by side, and its profiles name ranges', async () => {
  const { at } = folder({
    'f.json': {
      tools: [git('1.4.0'), git('2.0.0')],
      profiles: {
        list: { tools: ['git@^1'] },
        map: { tools: { 'git@^2': {} } },
        entry: { tools: [{ name: 'git@1.x' }] },
        lost: { tools: ['git@^3'] },
      },
    },
    'm.mjs': module,
  });
  const registry = new HostToolRegistry();
  const report = await loadHostTools(at('f.json'), registry);
  expect(report.loaded).toEqual(['git', 'git']);
  expect(report.failed).toMatchObject([
    {
      name: 'lost',
      reason:
        'Profile `lost`: expected a registered version of `git` that fits `^3`, got 2.0.0, ' +
        '1.4.0. Register it first, or mark it `optional`.',
    },
  ]);
  const shown = (profile: string) =>
    registry.createSession({ sessionId: 's', profile }).tool('git')?.version;
  expect([shown('list'), shown('map'), shown('entry')]).toEqual(['1.4.0', '2.0.0', '1.4.0']);
});

test('a version that is in the file twice is refused', async () => {
  const { at } = folder({ 'f.json': { tools: [git('1.0.0'), git('1.0.0')] }, 'm.mjs': module });
  const { failed } = await loadHostTools(at('f.json'), new HostToolRegistry());
  expect(failed).toMatchObject([{ index: 1, reason: 'the file already has a tool `git`' }]);
});

test('an edited version is replaced in its place, beside versions of the host', async () => {
  const { at, write } = folder({ 'f.json': { tools: [git('1.0.0'), ls] }, 'm.mjs': module });
  const registry = new HostToolRegistry();
  await loadHostTools(at('f.json'), registry);
  write({ 'f.json': { tools: [git('1.1.0'), ls] } });
  await loadHostTools(at('f.json'), registry);
  expect(registry.listNames()).toEqual(['git', 'ls']);
  registry.register(inCode('0.1.0'));
  write({ 'f.json': { tools: [git('0.9.0'), git('1.2.0'), ls] } });
  await loadHostTools(at('f.json'), registry);
  expect(versionsIn(registry)).toEqual([
    ['git', '1.2.0', 'Runs Git.'],
    ['git', '0.9.0', 'Runs Git.'],
    ['git', '0.1.0', 'In code.'],
    ['ls', undefined, 'Lists.'],
  ]);
  write({ 'f.json': { tools: [ls] } });
  await loadHostTools(at('f.json'), registry);
  expect(versionsIn(registry)).toEqual([
    ['git', '0.1.0', 'In code.'],
    ['ls', undefined, 'Lists.'],
  ]);
});

test('a file adds no version to a tool of a scope', async () => {
  const { at } = folder({ 'f.json': { tools: [git('2.0.0')] }, 'm.mjs': module });
  const registry = new HostToolRegistry();
  registry.scope('plugin:git').register(inCode('1.0.0'));
  const { failed } = await loadHostTools(at('f.json'), registry);
  expect(failed).toMatchObject([
    { reason: 'Tool `git` is already registered by `plugin:git`. Choose another name.' },
  ]);
  expect(versionsIn(registry)).toEqual([['git', '1.0.0', 'In code.']]);
});

test('a set-up that fails leaves the versions as they were', async () => {
  const registry = new HostToolRegistry<never>();
  registry.registerAll([inCode('1.0.0'), inCode('2.0.0')]);
  const before = registry.listTools();
  const recording = recordRegistry(registry);
  recording.registry.registerOrReplace(inCode('2.0.0'));
  recording.registry.registerOrReplace(inCode('3.0.0'));
  recording.registry.register(inCode('4.0.0'));
  await recording.undo();
  expect(registry.listTools()).toEqual(before);
});
