/** MCP servers and audit logs in files: their format, and the host that takes them. */
import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import type { FileHost, HostedParts } from '../../../src/surfaces/config/file-host.ts';
import { loadHostTools, watchHostTools } from '../../../src/surfaces/config/index.ts';
import { setFileHost } from '../../../src/surfaces/config/loaded-files.ts';
import { folder } from './folder.ts';

function world(content: unknown, problem: FileHost['problem'] = () => undefined) {
  const registry = new HostToolRegistry<never>();
  const taken: HostedParts[] = [];
  setFileHost(registry, { problem, take: (parts) => void taken.push(parts) });
  const files = folder({ 'gateway.json': content });
  return { registry, taken, files, path: files.at('gateway.json') };
}

const reasonsOf = async (mcpServers: unknown) => {
  const { registry, path } = world({ mcpServers });
  return (await loadHostTools(path, registry)).failed.map(({ reason }) => reason);
};

describe('what is wrong with a server is said', () => {
  test.each([
    [{ comand: 'x' }, 'unknown key `comand`; did you mean `command`?'],
    [{ args: [] }, 'expected exactly one of command, url, got none'],
    [{ command: 'x', url: 'https://a.b' }, 'expected exactly one of command, url, got both'],
    [{ command: 'x', headers: {} }, '`headers` does not go with `command`'],
    [
      {
        url: 'https://a.b',
        headers: { authorization: 'Bearer a' },
        auth: { grant: 'authorization_code' },
      },
      '`auth` does not go with a header `Authorization`',
    ],
    [{ url: 'https://a.b', env: {} }, '`env` does not go with `url`'],
    [{ url: 'ftp://a.b' }, '`url`: expected an http(s) address'],
    [{ url: 'https://u:p@a.b' }, '`url`: expected an address without a user and a password'],
    [{ url: 'https://a.b', headers: { 'Bad Header': 'y' } }, 'expected the name of an HTTP header'],
    [{ url: 'https://a.b', headers: { A: 'x\ny' } }, '`headers.A`: expected a header of one line'],
    [{ url: 'https://a.b', headers: { A: '\u20ac' } }, 'without characters beyond Latin-1'],
    [{ command: 'x', env: { A: 1 } }, '`env.A`: expected a string, got `1` (number)'],
    [{ command: 'x', env: { A: '$' + '{env:X}' } }, '`env.A`: expected each $' + '{ to begin'],
    [{ command: 'x', tools: [] }, '`tools`: expected a list of at least 1'],
    [{ command: 'x', labels: { a: { origin: 'trustd' } } }, 'did you mean `trusted`?'],
    [{ command: 'x', labels: { a: { timeOut: 1 } } }, 'unknown key `timeOut`'],
    [{ command: 'x', labels: { a: { timeout: '1s', timeoutMs: 1 } } }, 'are spellings of the same'],
    [{ command: 'x', labels: { a: { timeout: '1 sec' } } }, 'expected a number and a unit'],
    [
      { command: 'x', labels: { a: { annotations: { openWorld: true, openWorldHint: true } } } },
      '`openWorld` and `openWorldHint` are spellings',
    ],
  ])('%j', async (entry, said) => {
    const [reason = ''] = await reasonsOf({ one: entry });
    expect(reason).toContain(said);
  });

  test('what is under a wrong name is not shown, since it may be a secret', async () => {
    const headers = { 'Bad Header': 'sk-0123456789' };
    expect(await reasonsOf({ one: { url: 'https://a.b', headers } })).toEqual([
      '`headers.Bad Header`: expected the name of an HTTP header, without spaces',
    ]);
  });

  test('a name that could draw on a terminal is refused', async () => {
    expect(await reasonsOf({ 'a\u001b[2J': { command: 'x' } })).toEqual([
      'expected a name of visible text, up to 64 bytes',
    ]);
  });

  test('servers in a list are not a file of this kind', async () => {
    const { registry, path } = world({ mcpServers: [] });
    await expect(loadHostTools(path, registry)).rejects.toThrow(
      'expected `mcpServers` to be a map of names to servers',
    );
  });
});

test('the host takes servers and the log, in the order of the file', async () => {
  const { registry, taken, path } = world({
    mcpServers: { b: { command: 'x' }, a: { url: 'https://a.b/mcp' } },
    audit: { path: 'audit.jsonl' },
    approvals: { dir: 'kept' },
    network: ['example.com'],
  });
  expect((await loadHostTools(path, registry)).failed).toEqual([]);
  expect(taken).toHaveLength(1);
  expect([...(taken[0]?.servers.keys() ?? [])]).toEqual(['b', 'a']);
  expect(taken[0]).toMatchObject({
    path,
    audit: { path: 'audit.jsonl' },
    approvals: { dir: 'kept' },
    network: ['example.com'],
  });
});

test('a server that is wrong keeps the whole file out', async () => {
  const { registry, taken, path } = world({
    mcpServers: { a: {} },
    profiles: { p: { tools: [] } },
  });
  const { failed, profiles } = await loadHostTools(path, registry);
  expect(failed).toMatchObject([{ section: 'mcpServers', name: 'a', index: 0, line: 3 }]);
  expect([profiles, taken]).toEqual([[], []]);
});

test('so does one that the host cannot take', async () => {
  const { registry, taken, path } = world({ audit: { path: 'x' } }, () => 'the disk is full');
  const { failed } = await loadHostTools(path, registry);
  expect(failed).toMatchObject([{ section: 'audit', reason: 'the disk is full' }]);
  expect(taken).toEqual([]);
});

test('an edit that is wrong leaves servers as they are', async () => {
  const { registry, taken, files, path } = world({ mcpServers: { a: { command: 'x' } } });
  const errors: string[] = [];
  let told = () => {};
  const refused = new Promise<void>((resolve) => {
    told = resolve;
  });
  const watch = await watchHostTools(path, registry, {
    debounceMs: 0,
    onError: ({ message }) => {
      errors.push(message);
      told();
    },
  });
  files.replace('gateway.json', { mcpServers: { a: { command: 'y' }, b: { comand: 'z' } } });
  await refused;
  watch.close();
  expect(errors[0]).toContain('mcpServers[1] `b`: unknown key `comand`');
  expect(errors[0]).toContain('nothing was changed');
  expect(taken).toHaveLength(1);
});

test('without a host they are reported, and the rest of the file loads', async () => {
  const registry = new HostToolRegistry();
  const { at } = folder({
    'gateway.json': {
      mcpServers: { a: { command: 'x' } },
      audit: { path: 'x' },
      approvals: { dir: 'x' },
      network: ['example.com'],
      rules: [{ effect: 'deny', tools: 'a.*' }],
    },
  });
  const { failed, rules } = await loadHostTools(at('gateway.json'), registry);
  expect(failed.map(({ section, reason }) => [section, reason])).toEqual([
    ['mcpServers', expect.stringContaining('`importMcpTools`')],
    ['audit', expect.stringContaining('`createAuditLog`')],
    ['approvals', expect.stringContaining('`fileApprovals`')],
    ['network', expect.stringContaining('`host-tools guard`')],
  ]);
  expect(rules).toBe(1);
});

test('a profile may name tools of a server that is not running yet', async () => {
  const { registry, path } = world({
    mcpServers: { a: { command: 'x' }, b: { command: 'x', prefix: 'bee_' } },
    profiles: { p: { tools: ['a.one', { name: 'bee_two' }] }, q: { tools: ['c.three'] } },
  });
  const { failed, profiles } = await loadHostTools(path, registry);
  expect(profiles).toEqual(['p']);
  expect(failed).toMatchObject([{ name: 'q', reason: expect.stringContaining('c.three') }]);
});
