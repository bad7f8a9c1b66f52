/** Tools that offload their outputs, under the command line. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { registryStateOf } from '../../src/core/registry/state-of.ts';
import { HostToolRegistry } from '../../src/index.ts';
import { outputsOf } from '../../src/parts/offload/outputs-of.ts';
import { loadHostTools } from '../../src/surfaces/config/index.ts';
import { program } from '../runner/programs.ts';
import {
  demandPostgres,
  postgresAvailable,
  startPostgres,
  whyNot as whyNoPostgres,
} from '../stores/postgres/postgres-server.ts';
import { demandRedis, redisAvailable, startRedis, whyNot } from '../stores/redis/redis-server.ts';
import { folder } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';
import { post, served } from './relay-run.ts';

demandRedis();
demandPostgres();

const handlers = `
export const log = () => Array.from({ length: 500 }, (_, n) => 'step ' + n).join('\\n');
export const own = () => 'mine';
`;
const entry = (name: string, more: object = {}) => ({
  name,
  description: 'Does what the test says.',
  parameters: { type: 'object' },
  module: './handlers.mjs',
  function: 'log',
  maxOutputChars: 400,
  ...more,
});
const offloads = entry('build_log', { outputStrategy: 'offload' });
const cuts = entry('build_log');
const profiles = {
  reads: { tools: ['build_log', 'read_tool_output'] },
  forgets: { tools: ['build_log'] },
};
const files = (content: object) => folder({ 'a.json': content, 'handlers.mjs': handlers });
const source = ['--host-tools', 'a.json'];

async function run(content: object, ...argv: string[]) {
  return cli([...argv, ...source], { cwd: files(content).path });
}

interface Listed {
  readonly tools: readonly { readonly name: string }[];
}
const namesIn = (stdout: string): string[] =>
  (JSON.parse(stdout) as Listed).tools.map(({ name }) => name);

describe('a file with a tool that offloads its output', () => {
  const content = { tools: [offloads], profiles };

  test('brings read_tool_output, and a profile can list it', async () => {
    const { exit, stdout, stderr } = await run(content, 'list', '--json');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(namesIn(stdout)).toEqual(['build_log', 'read_tool_output']);
    const under = await run(content, 'list', '--json', '--profile', 'reads');
    expect(namesIn(under.stdout)).toEqual(['build_log', 'read_tool_output']);
  });

  test('`call` shows what a model gets: the beginning and a handle', async () => {
    const { exit, stdout, stderr } = await run(content, 'call', 'build_log', '--json');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      metadata: { truncated: { strategy: 'offload', handle: expect.stringMatching(/^out_/) } },
    });
  });

  test('under a profile without the reader, `call` warns that the output was cut', async () => {
    const { exit, stdout, stderr } = await run(
      content,
      'call',
      'build_log',
      '--json',
      '--profile',
      'forgets',
    );
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      metadata: { truncated: { strategy: 'head_tail' } },
    });
    expect(stderr).toMatch(
      /^warning: an output of `build_log` was cut, because the profile `forgets` does not list `read_tool_output`\. Add it [^\n]+\n$/,
    );
  });

  test.each([
    ['reads', 'over 400 characters, they are kept, and read_tool_output reads them'],
    [
      'forgets',
      'over 400 characters, both ends are shown; not kept, since this session cannot call ' +
        'read_tool_output: not_in_profile',
    ],
  ])('`explain` says it of the profile %s', async (profile, said) => {
    const { stdout } = await run(content, 'explain', 'build_log', '--profile', profile);
    expect(stdout).toMatch(new RegExp(`\\n  long outputs +${said}\\n`));
  });

  test('`serve` keeps the output for as long as the client is there', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const { path } = files(content);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [program('src/cli/index.ts'), 'serve', ...source, '--profile', 'reads'],
        cwd: path,
        stderr: 'ignore',
      }),
    );
    onTestFinished(() => client.close());
    const call = async (name: string, input: Record<string, unknown>): Promise<string> =>
      JSON.stringify(await client.callTool({ name, arguments: input }));
    const [handle] = /out_[\w-]+/.exec(await call('build_log', {})) as RegExpExecArray;
    expect(await call('read_tool_output', { handle, pattern: '^step 321$' })).toContain('step 321');
  });

  test('`tools diff` compares the tools of the file only', async () => {
    const { path } = folder({
      'old.json': { tools: [cuts] },
      'new.json': { tools: [offloads], profiles },
      'handlers.mjs': handlers,
    });
    const { exit, stdout } = await cli(['tools', 'diff', 'old.json', 'new.json', '--json'], {
      cwd: path,
    });
    expect(exit).toBe(0);
    expect(namesIn(stdout)).toEqual(['build_log']);
  });
});

describe('where no tool offloads its output, nothing is different', () => {
  test('there is no read_tool_output, and a profile cannot list it', async () => {
    const { stdout, stderr } = await run({ tools: [cuts], profiles }, 'list', '--json');
    expect(namesIn(stdout)).toEqual(['build_log']);
    expect(stderr).toMatch(/`reads`: .* to name registered tools, got `read_tool_output`/);
    const { exit } = await run({ tools: [cuts] }, 'call', 'read_tool_output');
    expect(exit).toBe(1);
  });

  test('a tool of the host may have the name', async () => {
    const own = { ...entry('read_tool_output'), function: 'own' };
    const { stdout } = await run({ tools: [cuts, own] }, 'call', 'read_tool_output');
    expect(stdout).toContain('mine');
  });
});

test('a tool of the host that has the name stays, and outputs are cut', async () => {
  const own = { ...entry('read_tool_output'), function: 'own' };
  const { stdout } = await run({ tools: [own, offloads] }, 'call', 'build_log', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ metadata: { truncated: { strategy: 'head_tail' } } });
});

test('an edit of a file can begin to offload, and list the reader', async () => {
  const { at, write } = files({ tools: [cuts] });
  const registry = new HostToolRegistry();
  outputsOf(registryStateOf(registry)).onDemand = {};
  await loadHostTools(at('a.json'), registry);
  expect(registry.listNames()).toEqual(['build_log']);
  write({ 'a.json': { tools: [offloads], profiles } });
  const { failed } = await loadHostTools(at('a.json'), registry);
  expect(failed).toEqual([]);
  expect(registry.listNames()).toEqual(['build_log', 'read_tool_output']);
  await registry.close();
});

describe('`relay` keeps the outputs of the tools of the host', () => {
  interface Tokens {
    readonly code: string;
    readonly agentToken: string;
  }
  const open = async (url: string) =>
    (await post(`${url}/api/sessions`, {})).body as unknown as Tokens;
  const ask = async (url: string, { code, agentToken }: Tokens, tool: string, args: object) =>
    JSON.stringify(
      (await post(`${url}/api/sessions/${code}/request`, { tool, args }, agentToken)).body,
    );
  const pattern = '^step 321$';
  const handleIn = (text: string): string =>
    (/out_[\w-]+/.exec(text) as RegExpExecArray)[0] as string;

  test('in memory', async () => {
    const file = files({ tools: [offloads] }).at('a.json');
    await served(['--host-tools', file], async (url) => {
      const session = await open(url);
      const handle = handleIn(await ask(url, session, 'build_log', {}));
      expect(await ask(url, session, 'read_tool_output', { handle, pattern })).toContain(
        'step 321',
      );
    });
  });

  /** What one node keeps, another one reads, in the same session. */
  async function forEveryNode(...words: string[]): Promise<void> {
    const file = files({ tools: [offloads] }).at('a.json');
    const argv = ['--host-tools', file, ...words];
    await served(argv, async (one) => {
      const session = await open(one);
      const handle = handleIn(await ask(one, session, 'build_log', {}));
      await served(argv, async (two) => {
        const read = await ask(two, session, 'read_tool_output', { handle, pattern });
        expect(read).toContain('step 321');
      });
    });
  }

  test.runIf(redisAvailable)(`in Redis, for every node${whyNot}`, async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    await forEveryNode('--redis', `redis://127.0.0.1:${redis.port}`);
    await forEveryNode('--store', `redis://127.0.0.1:${redis.port}?prefix=other`);
  });

  test.runIf(postgresAvailable)(`in PostgreSQL, for every node${whyNoPostgres}`, async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    await forEveryNode('--store', `postgres://postgres@127.0.0.1:${postgres.port}/postgres`);
  });

  test('in a file of SQLite, for every node of a machine', async () => {
    await forEveryNode('--store', `sqlite:${folder().at('state.db')}`);
  });
});
