/** Files and modules that would hang, crash or half-load a careless loader. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { importModule } from '../../../src/surfaces/config/import-module.ts';
import { loadHostTools, loadHostToolsModule } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const entry = (name: string, module = './ok.mjs') => ({ name, description: 'D.', module });
const ok = { 'ok.mjs': 'export default () => 1;' };

async function load(content: unknown, files: Readonly<Record<string, unknown>> = {}) {
  const { at } = folder({ 'a.json': content, ...ok, ...files });
  const registry = new HostToolRegistry();
  return { registry, ...(await loadHostTools(at('a.json'), registry)) };
}

describe('what is no regular file is refused at once', () => {
  test
    .skipIf(process.platform === 'win32')
    .each(['a pipe that nobody writes to', 'a device without an end'])('%s', async (kind) => {
    const { at } = folder();
    const path = kind.includes('device') ? '/dev/zero' : at('pipe.yaml');
    if (path !== '/dev/zero') execFileSync('mkfifo', [path]);
    await expect(loadHostTools(path, new HostToolRegistry())).rejects.toMatchObject({
      code: 'invalid_file',
      message: `${path}:1:1: expected a regular file, got a pipe, a device or a socket`,
    });
  });
});

describe('a module whose exports cannot be looked at fails its entry, and the others load', () => {
  test.each([
    [
      'a CommonJS getter that throws',
      'bad.cjs',
      'module.exports = { get a() { throw new Error("no database"); } };',
      /bad\.cjs cannot be loaded: no database/,
    ],
    [
      'a getter of the default export that throws',
      'bad.mjs',
      'export default { get a() { throw new Error("no"); } };',
      /cannot be loaded: no/,
    ],
    [
      'a revoked proxy as default',
      'bad.mjs',
      'const p = Proxy.revocable({}, {}); p.revoke(); export default p.proxy;',
      /revoked/,
    ],
    [
      'a revoked proxy by name',
      'bad.mjs',
      'const p = Proxy.revocable({}, {}); p.revoke(); export const a = p.proxy;',
      /an object that cannot be read/,
    ],
    [
      'a thenable that gives nothing',
      'bad.mjs',
      'export const then = (resolve) => resolve(undefined);',
      /cannot be loaded/,
    ],
    ['an endless message', 'bad.mjs', 'throw new Error("x".repeat(1e6));', /^.{1000,2010}$/],
  ])('%s', async (_, name, text, reason) => {
    const { loaded, failed } = await load(
      { tools: [entry('a', `./${name}`), entry('b')] },
      { [name]: text },
    );
    expect(loaded).toEqual(['b']);
    expect(failed).toMatchObject([{ index: 0, name: 'a', reason: expect.stringMatching(reason) }]);
  });

  test('as a module of its own it is refused: invalid_file', async () => {
    const { at } = folder({ 'bad.mjs': 'export default { get a() { throw new Error("no"); } };' });
    await expect(loadHostToolsModule(at('bad.mjs'), new HostToolRegistry())).rejects.toMatchObject({
      code: 'invalid_file',
    });
  });

  test('one that never finishes loading is given up after the limit', async () => {
    const { at } = folder({ 'never.mjs': 'await new Promise(() => {}); export default 1;' });
    await expect(importModule(at('never.mjs'), new Map(), 20)).rejects.toMatchObject({
      message:
        `the module ${at('never.mjs')} cannot be loaded: it is still loading after 0.02 s; move ` +
        'slow work into the handler',
    });
  });
});

describe('the size of a file costs time in proportion, never the stack', () => {
  test('entries count in the order of the file, whatever their keys', async () => {
    const { failed } = await load('{ "profiles": { "b": 5, "2": 6, "1": 7 } }');
    expect(failed.map(({ index, name }) => [index, name])).toEqual([
      [0, 'b'],
      [1, '2'],
      [2, '1'],
    ]);
  });

  test.each(['children first', 'parents first'])(
    'a line of at most 100 parents loads, %s',
    async (order) => {
      const line = Array.from(
        { length: 4_000 },
        (_, at) => [`p${at}`, at === 3_999 ? { tools: [] } : { extends: `p${at + 1}` }] as const,
      );
      const { profiles, failed } = await load({
        profiles: Object.fromEntries(order === 'children first' ? line : line.toReversed()),
      });
      expect(profiles.length).toBe(101);
      expect(failed.find(({ name }) => name === 'p3898')?.reason).toBe(
        '`extends` leads through more than 100 profiles',
      );
      expect(failed.find(({ name }) => name === 'p3897')?.reason).toBe(
        'it extends `p3898`, which cannot be loaded',
      );
    },
  );

  test('unknown keys are named up to a bound', async () => {
    const { failed } = await load({
      tools: [
        {
          ...entry('a'),
          ...Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, 1])),
        },
      ],
    });
    expect(failed[0]?.reason).toMatch(/^unknown key `k0`.*`k3`.*; and 4996 more$/);
  });
});

describe('the nearest name', () => {
  test('of a parent is another profile, of the file or of the registry', async () => {
    const { at } = folder({
      'a.json': { profiles: { reviewers: { extends: 'reviewer' }, x: { extends: 'hots' } } },
    });
    const registry = new HostToolRegistry();
    registry.defineProfile({ id: 'host', tools: [] });
    registry.defineProfile({ id: 'reviewed', tools: [] });
    const { failed } = await loadHostTools(at('a.json'), registry);
    expect(failed.map(({ reason }) => reason)).toEqual([
      '`extends`: there is no profile `reviewer`, did you mean `reviewed`?',
      '`extends`: there is no profile `hots`, did you mean `host`?',
    ]);
  });

  test('of a value that is one of a few', async () => {
    const { failed } = await load({ tools: [{ ...entry('a'), exposure: 'Internal' }] });
    expect(failed[0]?.reason).toBe(
      '`exposure`: expected `model` or `internal`, got `Internal` (string), did you mean ' +
        '`internal`?',
    );
  });
});

test('a set-up may load a file again that has a profile less', async () => {
  const config = new URL('../../../src/surfaces/config/index.ts', import.meta.url).href;
  const { at } = folder({
    'set-up.mjs': `
      import { writeFileSync } from 'node:fs';
      import { loadHostTools } from ${JSON.stringify(config)};
      const file = new URL('./b.json', import.meta.url);
      export async function setupHostTools(registry) {
        for (const profiles of [{ p: { tools: [] }, q: { tools: [] } }, { p: { tools: [] } }]) {
          writeFileSync(file, JSON.stringify({ profiles }));
          await loadHostTools(file, registry);
        }
      }`,
  });
  const registry = new HostToolRegistry();
  await loadHostToolsModule(at('set-up.mjs'), registry);
  expect([registry.profile('p')?.id, registry.profile('q')]).toEqual(['p', undefined]);
});
