import { link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HostServices } from '../../examples/coding-agent/files.ts';
import { codingAgentTools } from '../../examples/coding-agent/tools.ts';
import { HostToolRegistry, type JsonObject } from '../../src/index.ts';
import { type CodingAgentToolName, codingAgentPreset } from '../../src/surfaces/workflow/index.ts';
import { outcome, tempFolder } from './fixtures.ts';

async function host({ cwd }: { cwd?: string } = {}) {
  const top = await tempFolder();
  const root = join(top, 'root');
  await mkdir(join(root, 'src', 'deep'), { recursive: true });
  await mkdir(join(top, 'outside'));
  await writeFile(join(top, 'outside', 'secret.txt'), 'secret\n');
  await writeFile(join(root, 'three.txt'), 'one\ntwo\nthree\n');
  await writeFile(join(root, 'src', 'a.js'), 'one();\n');
  await writeFile(join(root, 'src', 'deep', 'b.js'), 'ONE();\n');
  await symlink(join(top, 'outside'), join(root, 'link'));
  await symlink(join(top, 'outside', 'secret.txt'), join(root, 'secret-link.txt'));
  const registry = new HostToolRegistry<HostServices>();
  onTestFinished(() => registry.close());
  registry.registerAll(codingAgentTools);
  const services: HostServices = {
    reads: { now: 0, most: 0 },
    writes: { now: 0, most: 0 },
    openHostSession: () => 'host-1',
  };
  const session = registry.createSession({
    sessionId: 's',
    cwd: cwd ?? root,
    services,
    facts: { 'hostSession.status': 'ready' },
  });
  const call = (short: string, input: unknown = {}) => session.call(`host.${short}`, input);
  /** The output, or what went wrong. */
  const get = async (short: string, input: unknown = {}) => {
    const result = await call(short, input);
    return result.success ? result.output : outcome(result);
  };
  const text = (path: string) => readFile(join(root, path), 'utf8');
  return { top, root, services, session, call, get, text };
}

const patchOf = (...lines: string[]) => ({
  patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
});

test('there is one for each tool of the preset, with its name, description and schema', () => {
  const face = ({
    name,
    description,
    parameters,
  }: {
    name: string;
    description: string;
    parameters: unknown;
  }) => [name, { description, parameters }] as const;
  expect(new Map(codingAgentTools.map(face))).toEqual(new Map(codingAgentPreset().tools.map(face)));
});

describe('reading', () => {
  test.each<readonly [string, JsonObject, unknown]>([
    ['fs.read_file', { path: 'three.txt' }, 'one\ntwo\nthree\n'],
    ['fs.read_file', { path: './three.txt', startLine: 2, maxLines: 1 }, 'two'],
    ['fs.read_file', { path: 'three.txt', startLine: 3 }, 'three\n'],
    ['fs.read_file', { path: 'three.txt', startLine: 99 }, ''],
    ['fs.grep', { text: 'one' }, 'src/a.js:1: one();\nthree.txt:1: one'],
    [
      'fs.grep',
      { text: 'one', path: 'src', ignoreCase: true },
      'src/a.js:1: one();\nsrc/deep/b.js:1: ONE();',
    ],
    ['fs.grep', { text: 't', path: 'three.txt' }, 'three.txt:2: two\nthree.txt:3: three'],
    [
      'fs.grep',
      { text: 'o', path: 'three.txt', maxMatches: 1 },
      'three.txt:1: one\n[there may be more: the search ended at its limit]',
    ],
    [
      'fs.grep',
      { text: 'o', maxMatches: 1 },
      'src/a.js:1: one();\n[there may be more: the search ended at its limit]',
    ],
    ['fs.grep', { text: 'secret' }, 'no matches'],
    ['fs.grep', { text: 'nothing', path: 'three.txt' }, 'no matches'],
    ['fs.glob', { pattern: '**/*.js' }, 'src/a.js\nsrc/deep/b.js'],
    ['fs.glob', { pattern: '*.js', path: 'src' }, 'src/a.js'],
    ['fs.glob', { pattern: '*.txt' }, 'three.txt'],
    [
      'fs.glob',
      { pattern: '**', maxMatches: 1 },
      'src/a.js\n[there may be more: the search ended at its limit]',
    ],
    ['fs.glob', { pattern: '../**' }, 'no matches'],
    ['fs.stat', { path: 'three.txt' }, { kind: 'file', bytes: 14 }],
    ['fs.stat', { path: '.' }, { kind: 'folder' }],
    ['fs.exists', { path: 'src/deep' }, true],
    ['fs.exists', { path: 'none' }, false],
    ['fs.exists', { path: 'none/none' }, false],
    ['fs.exists', { path: 'three.txt/none' }, false],
    [
      'fs.list_dir',
      { path: 'src' },
      [
        { name: 'a.js', kind: 'file' },
        { name: 'deep', kind: 'folder' },
      ],
    ],
  ])('%s %j', async (name, input, expected) => {
    expect(await (await host()).get(name, input)).toEqual(expected);
  });
  test.each<readonly [string, JsonObject, string]>([
    ['fs.read_file', { path: 'none' }, 'handler_error not_found'],
    ['fs.read_file', { path: 'src' }, 'handler_error not_a_file'],
    ['fs.stat', { path: 'none' }, 'handler_error not_found'],
    ['fs.list_dir', { path: 'three.txt' }, 'handler_error not_a_folder'],
    ['fs.glob', { pattern: '*', path: 'none' }, 'handler_error not_found'],
    ['fs.grep', { text: 'x', path: 'none' }, 'handler_error not_found'],
  ])('%s %j: %s', async (name, input, expected) => {
    expect(await (await host()).get(name, input)).toBe(expected);
  });
  test('what is no text, or too large, is refused', async () => {
    const { root, get } = await host();
    await writeFile(join(root, 'nul'), 'a\0b');
    await writeFile(join(root, 'large'), 'x'.repeat(500_001));
    expect(await get('fs.read_file', { path: 'nul' })).toBe('handler_error not_text');
    expect(await get('fs.read_file', { path: 'large' })).toBe('handler_error file_too_large');
  });
});

describe('writing', () => {
  test('write_file makes folders, and replaces', async () => {
    const { get, text } = await host();
    expect(await get('fs.write_file', { path: 'new/deep/x.txt', content: 'ü' })).toBe(
      'wrote new/deep/x.txt, 2 bytes',
    );
    await get('fs.write_file', { path: 'new/deep/x.txt', content: '' });
    expect(await text('new/deep/x.txt')).toBe('');
  });
  test('a hard link is not written through', async () => {
    const { top, root, get, text } = await host();
    await link(join(top, 'outside', 'secret.txt'), join(root, 'hard.txt'));
    await get('fs.write_file', { path: 'hard.txt', content: 'mine' });
    await get('fs.edit_file', { path: 'hard.txt', oldText: 'mine', newText: 'still mine' });
    expect(await text('hard.txt')).toBe('still mine');
    expect(await readFile(join(top, 'outside', 'secret.txt'), 'utf8')).toBe('secret\n');
  });
  test.each([
    [{ oldText: 'two', newText: '2' }, 'one\n2\nthree\n'],
    [{ oldText: 'two\n', newText: '' }, 'one\nthree\n'],
    [{ oldText: 'two', newText: '$& $1 $$' }, 'one\n$& $1 $$\nthree\n'],
    [{ oldText: 'e', newText: 'E', replaceAll: true }, 'onE\ntwo\nthrEE\n'],
    [{ oldText: 'ee', newText: 'i', replaceAll: true }, 'one\ntwo\nthri\n'],
  ])('edit_file %j', async (edit, expected) => {
    const { get, text } = await host();
    expect(await get('fs.edit_file', { path: 'three.txt', ...edit })).toBe('edited three.txt');
    expect(await text('three.txt')).toBe(expected);
  });
  test('edit_file refuses a text that is missing or there twice, changing nothing', async () => {
    const { get, text } = await host();
    expect(await get('fs.edit_file', { path: 'three.txt', oldText: 'Two', newText: '' })).toBe(
      'handler_error text_not_found',
    );
    expect(await get('fs.edit_file', { path: 'three.txt', oldText: 'o', newText: '' })).toBe(
      'handler_error text_not_unique',
    );
    expect(await get('fs.edit_file', { path: 'none', oldText: 'o', newText: '' })).toBe(
      'handler_error not_found',
    );
    expect(await text('three.txt')).toBe('one\ntwo\nthree\n');
  });
  test('apply_patch adds, updates and deletes', async () => {
    const { root, get, text } = await host();
    const patch = patchOf(
      '*** Add File: new/c.txt',
      '+first',
      '+',
      '*** Delete File: src/a.js',
      '*** Update File: three.txt',
      '@@',
      ' one',
      '-two',
      '+2',
      '+2½',
      '@@',
      '-three',
    );
    expect(await get('fs.apply_patch', patch)).toBe(
      'added new/c.txt\ndeleted src/a.js\nupdated three.txt',
    );
    expect(await text('new/c.txt')).toBe('first\n\n');
    expect(await text('three.txt')).toBe('one\n2\n2½\n');
    expect(await readdir(join(root, 'src'))).toEqual(['deep']);
  });
  test.each([
    [['*** Update File: three.txt', '@@', '-four'], 'patch_does_not_fit'],
    [['*** Add File: three.txt', '+x'], 'file_exists'],
    [['*** Add File: three.txt/x', '+x'], 'not_a_folder'],
    [['*** Delete File: none'], 'not_found'],
    [['*** Delete File: src'], 'not_a_file'],
    [['*** Update File: three.txt', '-one'], 'invalid_patch'],
    [['*** Add File: ../outside/x', '+x'], 'path_outside_root'],
    [['*** Add File: link/x', '+x'], 'symlink_refused'],
    [['*** Delete File: secret-link.txt'], 'symlink_refused'],
    [['*** Add File: .git/hooks/post-checkout', '+x'], 'path_protected'],
  ])('a patch of which a part does not fit writes nothing: %j is %s', async (lines, reason) => {
    const { top, root, get } = await host();
    expect(await get('fs.apply_patch', patchOf('*** Add File: first/x.txt', '+x', ...lines))).toBe(
      `handler_error ${reason}`,
    );
    expect(await readdir(root)).toEqual(['link', 'secret-link.txt', 'src', 'three.txt']);
    expect(await readdir(join(top, 'outside'))).toEqual(['secret.txt']);
  });
});

const escapes: readonly (readonly [path: string, reason: string])[] = [
  ['../outside/secret.txt', 'path_outside_root'],
  ['src/../../outside/secret.txt', 'path_outside_root'],
  ['/etc/passwd', 'path_outside_root'],
  ['C:\\Windows', 'path_outside_root'],
  ['link/secret.txt', 'symlink_refused'],
  ['secret-link.txt', 'symlink_refused'],
  ['three.txt\0', 'invalid_path'],
  ['.git/config', 'path_protected'],
  ['.GIT/config', 'path_protected'],
];
const inputs: readonly (readonly [
  Exclude<CodingAgentToolName, 'host.exec' | 'host.session.open'>,
  (path: string) => JsonObject,
])[] = [
  ['host.fs.read_file', (path) => ({ path })],
  ['host.fs.grep', (path) => ({ path, text: 'secret' })],
  ['host.fs.glob', (path) => ({ path, pattern: '**' })],
  ['host.fs.stat', (path) => ({ path })],
  ['host.fs.exists', (path) => ({ path })],
  ['host.fs.list_dir', (path) => ({ path })],
  ['host.fs.write_file', (path) => ({ path, content: 'x' })],
  ['host.fs.edit_file', (path) => ({ path, oldText: 'secret', newText: 'x' })],
  ['host.fs.apply_patch', (path) => patchOf(`*** Update File: ${path}`, '@@', '-secret', '+x')],
];

describe.each(inputs)('%s', (name, inputOf) => {
  test('leaves the root by no path', async () => {
    const { top, session } = await host();
    for (const [path, reason] of escapes) {
      const result = await session.call(name, inputOf(path));
      expect([path, outcome(result)]).toEqual([path, `handler_error ${reason}`]);
      expect(JSON.stringify(result)).not.toContain(top);
    }
    expect(await readFile(join(top, 'outside', 'secret.txt'), 'utf8')).toBe('secret\n');
  });
  test('does nothing in a session without a folder', async () => {
    const { session } = await host({ cwd: '' });
    expect(outcome(await session.call(name, inputOf('package.json')))).toBe(
      'handler_error no_root',
    );
  });
  test('takes nothing that its schema does not name', async () => {
    const { session } = await host();
    for (const input of [
      { ...inputOf('three.txt'), root: '/' },
      { path: 1 },
      { path: '', patch: '' },
      [],
      'x',
    ])
      expect(outcome(await session.call(name, input))).toMatch(/^invalid_input/);
  });
  test('is not there without a host session', async () => {
    const { session } = await host();
    session.setFacts({ 'hostSession.status': 'closed' });
    expect(outcome(await session.call(name, inputOf('three.txt')))).toBe(
      'tool_not_available fact_unmet',
    );
  });
});

describe('host.exec', () => {
  test('runs an allowed command line, with nothing of the environment', async () => {
    expect(await (await host()).get('exec', { program: 'node', args: ['--version'] })).toEqual({
      exitCode: 0,
      stdout: `${process.version}\n`,
      stderr: '',
    });
  });
  test.each([
    { program: 'node', args: ['--eval', '1'] },
    { program: 'node' },
    { program: 'node --version' },
    { program: 'node', args: ['--version', 'x'] },
    { program: 'node', args: ['--version; rm -rf .'] },
    { program: 'sh', args: ['-c', 'node --version'] },
    { program: '/bin/sh' },
    { program: './node', args: ['--version'] },
    { program: 'node', args: ['--version'], cwd: 'src' },
    { program: 'node', args: ['--version'], cwd: '..' },
  ])('%j is denied', async (input) => {
    expect(outcome(await (await host()).call('exec', input))).toBe(
      'policy_denied command_not_allowed',
    );
  });
  test.each([
    {},
    { program: '' },
    { program: 'node', args: '--version' },
    { program: 'node', timeoutMs: 0 },
    { program: 'node', shell: true },
  ])('%j is invalid', async (input) => {
    expect(outcome(await (await host()).call('exec', input))).toBe('invalid_input');
  });
});

describe('a batch', () => {
  test('runs reads side by side, and one write at a time', async () => {
    const { session, services, text } = await host();
    const calls = ['a', 'b', 'c'].flatMap((name) => [
      { id: `read ${name}`, name: 'host.fs.read_file', arguments: { path: 'three.txt' } },
      {
        id: `write ${name}`,
        name: 'host.fs.write_file',
        arguments: { path: 'out.txt', content: name },
      },
    ]);
    const { plan, results } = await session.executeBatch(calls);
    expect(plan.groups).toEqual([
      ['read a', 'write a', 'read b'],
      ['write b', 'read c'],
      ['write c'],
    ]);
    expect(results.map(({ result }) => outcome(result))).toEqual(
      Array.from({ length: 6 }, () => 'ok'),
    );
    expect([services.reads, services.writes]).toEqual([
      { now: 0, most: 2 },
      { now: 0, most: 1 },
    ]);
    expect(await text('out.txt')).toBe('c');
  });
  test('writes that are called at once, without a plan, do not overlap either', async () => {
    const { call, services, root } = await host();
    await Promise.all(
      [1, 2, 3, 4].map((n) =>
        call('fs.edit_file', { path: 'three.txt', oldText: 'one', newText: `one${n}` }),
      ),
    );
    expect(services.writes).toEqual({ now: 0, most: 1 });
    expect((await stat(join(root, 'three.txt'))).size).toBe(18);
  });
});
