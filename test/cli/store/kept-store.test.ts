/** The store of a file or of `--store`: what commands keep in it, and what is refused at start. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools, watchHostTools } from '../../../src/surfaces/config/index.ts';
import {
  demandPostgres,
  type PostgresServer,
  postgresAvailable,
  startPostgres,
  whyNot,
} from '../../stores/postgres/postgres-server.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
} from '../../stores/redis/redis-server.ts';
import { folder } from '../../surfaces/config/folder.ts';
import { cli, type RunSetup } from '../cli-run.ts';
import { connect, serve } from '../served-gateway.ts';
import { until } from '../until.ts';

demandPostgres();
demandRedis();

let postgres: PostgresServer | undefined;
let redis: RedisServer | undefined;
beforeAll(async () => {
  if (postgresAvailable) postgres = await startPostgres();
  if (redisAvailable) redis = await startRedis();
});
afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const handlers = `
export const spend = () => 'spent';
export const log = () => Array.from({ length: 500 }, (_, n) => 'step ' + n).join('\\n');
`;
const entry = (name: string, more: object = {}) => ({
  name,
  description: 'Does what the test says.',
  parameters: { type: 'object' },
  module: './handlers.mjs',
  function: name,
  ...more,
});
const spend = entry('spend');
const quotas = [{ id: 'two-a-day', max: 2, per: 'day', by: 'registry' }];
const at = (url: string, more: object = {}) => ({ store: { url }, tools: [spend], ...more });
const files = (content: object) => folder({ 'a.json': content, 'handlers.mjs': handlers });
const source = ['--host-tools', 'a.json'];

/** The stores of a machine, by their addresses. */
const kinds = [
  ['sqlite:./state.db', true],
  ['postgres://postgres@127.0.0.1:PG/postgres?schema=files', postgresAvailable],
  ['redis://127.0.0.1:REDIS?prefix=files', redisAvailable],
] as const;
const urlOf = (url: string): string =>
  url.replace('PG', String(postgres?.port)).replace('REDIS', String(redis?.port));

describe.each(kinds.filter(([, available]) => available))('a file with the store %s', (url) => {
  test('has quotas, an audit log and outputs that outlast a run', async () => {
    const log = entry('log', { maxOutputChars: 400, outputStrategy: 'offload' });
    const content = at(urlOf(url), { tools: [spend, log], quotas, audit: {} });
    const { path: cwd } = files(content);
    const call = async (...words: string[]) =>
      JSON.parse((await cli(['call', ...words, ...source, '--json'], { cwd })).stdout) as {
        readonly success: boolean;
        readonly output?: string;
        readonly error?: { readonly reason?: string };
      };
    expect(await call('spend')).toMatchObject({ success: true });
    const { output = '' } = await call('log');
    const [, handle = ''] = /"?handle"?: ?"([^"]+)"/.exec(output) ?? [];
    expect(handle).not.toBe('');
    // The quota has counted both runs.
    expect(await call('spend')).toMatchObject({
      success: false,
      error: { reason: 'quota_exceeded' },
    });
    const verified = await cli(['audit', 'verify', '--store', urlOf(url)], { cwd });
    expect(verified).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^3 lines in 1 chain/),
    });
    expect((await cli(['audit', 'report', '--store', urlOf(url)], { cwd })).stdout).toMatch(
      /3 calls/,
    );
    // Without the quota, since reading is a call as well.
    const reading = files(
      at(url.startsWith('sqlite') ? `sqlite:${cwd}/state.db` : urlOf(url), { tools: [spend, log] }),
    );
    const read = await cli(
      [
        'call',
        'read_tool_output',
        ...source,
        '--input',
        JSON.stringify({ handle, start: 4300, end: 4389 }),
        '--json',
      ],
      { cwd: reading.path },
    );
    expect(read.stdout).toContain('step 49');
  });

  test('keeps approvals that another process answers', async () => {
    const kept = fileURLToPath(new URL('../fixtures/gateway-server.mjs', import.meta.url));
    const content = {
      mcpServers: { kept: { command: process.execPath, args: [kept] } },
      rules: [{ effect: 'ask', tools: 'kept.remove' }],
      store: { url: urlOf(url) },
      approvals: { page: true },
      audit: {},
    };
    const { path } = folder({ 'gateway.json': content });
    const [one, two] = [await serve(path), await serve(path)];
    const { remove } = await connect(one.mcp);
    expect((await remove('a'))._meta).toMatchObject({
      'host-tools/error': { code: 'approval_pending' },
    });
    const { approvals = [] } = await two.ask('');
    expect(approvals).toMatchObject([{ tool: { name: 'kept.remove' }, principal: 'ann' }]);
    const answered = await two.ask(`/${approvals[0]?.id}`, { decision: 'allow_once' });
    expect(answered.status).toBe('succeeded');
    expect(await one.ask('')).toMatchObject({ approvals: [] });
    // The client goes on with a process that it has not met.
    await one.end();
    const three = await serve(path, new URL(one.mcp).port);
    expect((await remove('b'))._meta).toMatchObject({
      'host-tools/error': { code: 'approval_pending' },
    });
    await three.end();
    // Processes wrote the log: the one that suspended the call, and the one that resumed it.
    await two.end();
    const report = await cli(['audit', 'report', '--store', urlOf(url), '--json'], { cwd: path });
    expect(JSON.parse(report.stdout)).toMatchObject({
      check: { ok: true },
      summary: { approvers: { ann: { allowed: 1 } } },
    });
  });
});

describe('a file with a folder as its store', () => {
  test('keeps approvals and outputs as the sections and options for folders do', async () => {
    const kept = fileURLToPath(new URL('../fixtures/gateway-server.mjs', import.meta.url));
    const common = {
      mcpServers: { kept: { command: process.execPath, args: [kept] } },
      rules: [{ effect: 'ask', tools: 'kept.remove' }],
    };
    const made = folder({
      'gateway.json': { ...common, approvals: { dir: 'waiting', page: true } },
    });
    const old = await serve(made.path);
    await (await connect(old.mcp)).remove('a');
    await old.end();
    // The same folder, named as a store.
    made.replace('gateway.json', {
      ...common,
      store: { url: 'file:./waiting' },
      approvals: { page: true },
    });
    const now = await serve(made.path);
    const { approvals = [] } = await now.ask('');
    expect(approvals).toHaveLength(1);
    expect((await now.ask(`/${approvals[0]?.id}`, { decision: 'allow_once' })).status).toBe(
      'succeeded',
    );
    expect(existsSync(made.at('waiting/secret'))).toBe(true);
  });

  test('cannot count, so quotas are refused at start, with a store that can', async () => {
    const { path: cwd } = files(at('file:./state', { quotas }));
    expect(await cli(['call', 'spend', ...source], { cwd })).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/folder file:\.\/state cannot count.*sqlite:\.\/state\.db/),
    });
  });

  test('keeps no audit log', async () => {
    const { path: cwd } = files(at('file:./state', { audit: {} }));
    expect(await cli(['call', 'spend', ...source], { cwd })).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(
        /audit\[0\]: a folder keeps no audit log: give the log a `path`/,
      ),
    });
  });
});

/** What `call`, or another command, says when it is refused. */
async function refusal(content: object, words = ['call', 'spend'], setup: RunSetup = {}) {
  const { path: cwd } = files(content);
  const { exit, stderr } = await cli([...words, ...source], { cwd, ...setup });
  expect(stderr).not.toContain('s3cret');
  return `${exit} ${stderr}`;
}

describe('a store that cannot be used is refused at start', () => {
  test.each<[string, object, RegExp]>([
    [
      'an unknown kind',
      at('mysql://ann:s3cret@db/app'),
      /^1 a\.json:\d+: store\[0\]: .*expected an address such as `postgres:/,
    ],
    [
      'a variable that is not set',
      at(`postgres://ann:\${DB_PASSWORD}@db/app`),
      /^1 host-tools: a\.json:\d+: store: .*set `DB_PASSWORD`\.\n/,
    ],
    [
      'something that is no variable',
      at(`redis://:\${s3cret-x}@db`),
      /expected each \$\{ to begin/,
    ],
    ['a server that is not there', at('redis://:s3cret@127.0.0.1:1'), /ECONNREFUSED/],
    [
      'a wrong schema',
      at('postgres://a:s3cret@127.0.0.1:1/x?schema=a-b'),
      /`schema` to be 1 to 40/,
    ],
    ['a folder that is not there', at('sqlite:./none/state.db'), /Make its folder/],
    ['an unknown key', { ...at('file:./a'), store: { url: 'file:./a', dir: 'b' } }, /`dir`/],
    ['no address', { store: {}, tools: [spend] }, /store\[0\]: .*`url`/],
  ])('%s', async (_, content, message) => {
    expect(await refusal(content)).toMatch(message);
  });

  test('nothing would be kept in it', async () => {
    expect(await refusal(at('sqlite:./state.db'), ['serve'])).toMatch(
      /^1 host-tools: Nothing would be kept in the store sqlite:\.\/state\.db: .*`approvals: \{\}`/,
    );
  });

  test('two files name two', async () => {
    const { path: cwd } = folder({
      'a.json': at('sqlite:./a.db'),
      'b.json': { store: { url: 'sqlite:./b.db' } },
      'handlers.mjs': handlers,
    });
    const ran = await cli(['call', 'spend', ...source, '--host-tools', 'b.json'], { cwd });
    expect(ran).toMatchObject({ exit: 1, stderr: expect.stringMatching(/two stores/) });
  });

  test('a section needs one, and there is none', async () => {
    expect(await refusal({ tools: [spend], audit: {} })).toMatch(
      /audit\[0\]: expected `path`, the file of the log, or a store/,
    );
    expect(await refusal({ tools: [spend], approvals: {} }, ['serve'])).toMatch(
      /approvals\[0\]: expected `dir`, the folder where they are kept, or a store/,
    );
  });

  test('a log in a store cannot be exclusive', async () => {
    expect(await refusal(at('sqlite:./a.db', { audit: { exclusive: true } }))).toMatch(
      /`exclusive` is for a `path`/,
    );
  });
});

test('a hook opens no store', async () => {
  const { path: cwd } = files({ ...at('sqlite:./state.db'), tools: [] });
  const { runHook } = await import('../../../src/cli/hook-run.ts');
  const run = {
    argv: ['hook', 'claude-code', '--host-tools', 'a.json'],
    stdin: JSON.stringify({
      hook_event_name: 'PreToolUse',
      session_id: 's',
      cwd,
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    }),
    env: { HOME: cwd, XDG_STATE_HOME: cwd, XDG_CACHE_HOME: cwd },
    cwd,
    now: Date.now,
  };
  expect(await runHook(run)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('a hook opens no store'),
  });
});

test('the store of the command line takes the place of that of the file', async () => {
  const { path: cwd, at: path } = files(
    at('postgres://nobody:s3cret@127.0.0.1:1/none', { approvals: {} }),
  );
  const stop = new AbortController();
  let said = '';
  const ended = cli(['serve', ...source, '--http', '0', '--store', 'sqlite:./state.db'], {
    cwd,
    signal: stop.signal,
    onStderr: (text) => {
      said = text;
    },
  });
  await until(() => said.includes('Serving MCP'));
  expect(existsSync(path('state.db'))).toBe(true);
  stop.abort();
  expect((await ended).exit).toBe(0);
});

test('an edit cannot change the store of a command that runs', async () => {
  const made = files(at('sqlite:./state.db', { approvals: {} }));
  const stop = new AbortController();
  let said = '';
  const ended = cli(['serve', ...source, '--http', '0'], {
    cwd: made.path,
    signal: stop.signal,
    onStderr: (text) => {
      said = text;
    },
  });
  await until(() => said.includes('Serving MCP'));
  made.replace('a.json', at('sqlite:./other.db', { approvals: {} }));
  await until(() => said.includes('the store is read at the start only'));
  stop.abort();
  expect((await ended).exit).toBe(0);
});

test('in code, the store of a file is not opened, and the report says what to do', async () => {
  const made = files(at('sqlite:./state.db'));
  const { failed } = await loadHostTools(made.at('a.json'), new HostToolRegistry());
  expect(failed).toMatchObject([
    { section: 'store', reason: expect.stringContaining('new HostToolRegistry({ store })') },
  ]);
  await expect(
    watchHostTools(made.at('a.json'), new HostToolRegistry()).then((watch) => {
      watch.close();
      return watch.report;
    }),
  ).resolves.toMatchObject({ failed: [{ section: 'store' }] });
});

test.skipIf(!postgresAvailable)(`a password comes from the environment${whyNot}`, async () => {
  const url = `postgres://postgres:\${DB_PASSWORD}@127.0.0.1:${postgres?.port}/postgres`;
  const { path: cwd } = files(at(url, { quotas }));
  const ran = await cli(['call', 'spend', ...source], { cwd, env: { DB_PASSWORD: 's3cret' } });
  expect(ran).toMatchObject({ exit: 0, stderr: '' });
});
