/** Code mode in front of MCP servers: `code: true` in the file of a gateway. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyAudit } from '../../src/surfaces/audit/index.ts';
import { program } from '../runner/programs.ts';
import { type Folder, folder, installed } from '../surfaces/config/folder.ts';
import { cli, root } from './cli-run.ts';
import { serve } from './served-gateway.ts';
import { until } from './until.ts';

const node = process.execPath;
const official = (name: string): string =>
  join(installed, `@modelcontextprotocol/server-${name}/dist/index.js`);
const offering = fileURLToPath(new URL('./fixtures/offering-server.mjs', import.meta.url));
const without = fileURLToPath(new URL('./fixtures/without-packages.cjs', import.meta.url));
const kept = fileURLToPath(new URL('./fixtures/gateway-server.mjs', import.meta.url));

/** A gateway with programs in front of two official servers, and of one written by hand. */
function gateway(more: object = {}, servers: object = {}): Folder {
  const made = folder({ 'notes/a.txt': 'A note.' });
  made.write({
    'gateway.json': {
      code: true,
      mcpServers: {
        files: { command: node, args: [official('filesystem'), 'notes'] },
        memory: {
          command: node,
          args: [official('memory')],
          env: { MEMORY_FILE_PATH: made.at('memory.jsonl') },
        },
        ...servers,
      },
      audit: { path: 'audit.jsonl' },
      store: { url: 'sqlite:./state.db' },
      approvals: { page: true },
      ...more,
    },
  });
  return made;
}
const handwritten = { kept: { command: node, args: [kept] } };

interface Answered {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
  readonly _meta?: object;
}

/** The servers of a gateway with that one. */
const withKept = ['files', 'memory', 'kept'];

const eras = ['modern', 'legacy'] as const;
type Era = (typeof eras)[number];

/** A client of an era, once these servers are there; with answers, it can be asked. */
async function connect(
  url: string,
  era: Era,
  answers?: ('allow_once' | 'reject_once')[],
  servers: readonly string[] = ['files', 'memory'],
) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: answers === undefined ? {} : { elicitation: {} },
      ...(era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  );
  const questions: string[] = [];
  if (answers !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      return { action: 'accept' as const, content: { decision: answers.shift() as string } };
    });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  await until(async () => {
    const { description } = (await client.listTools()).tools.at(-1) ?? {};
    return servers.every((name) => description?.includes(`"${name}.`));
  });
  const run = async (code: string): Promise<Answered> =>
    (await client.callTool({ name: 'run_code', arguments: { code } })) as Answered;
  return { client, questions, run };
}

/** A program over two servers. */
const both = `const { content } = await tools['files.read_text_file']({ path: 'a.txt' });
const entity = { name: 'note', entityType: 'note', observations: [content] };
await tools['memory.create_entities']({ entities: [entity] });
const { entities } = await tools['memory.read_graph']({});
return entities.map(({ observations }) => observations[0]);`;

/** Removes three things, one after the other or at once, and says how each of them ended. */
const removal = (how: string): string => `const remove = (text) =>
  tools['kept.remove']({ text }).then(([{ text }]) => text, ({ code, reason }) => code + ' ' + reason);
${how}`;
const inTurn = removal(
  "const all = []; for (const text of ['a', 'b', 'c']) all.push(await remove(text)); return all;",
);
const atOnce = removal("return await Promise.all(['a', 'b', 'c'].map(remove));");

const textOf = ({ content }: Answered): string => content.map(({ text }) => text).join('\n');
const codeOf = ({ _meta }: Answered): unknown =>
  (_meta as { 'host-tools/error'?: object } | undefined)?.['host-tools/error'];

async function records(made: Folder): Promise<readonly Record<string, unknown>[]> {
  expect(await verifyAudit(made.at('audit.jsonl'))).toMatchObject({ ok: true });
  return readFileSync(made.at('audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe.each(eras)('a client of the %s era', (era) => {
  test('sees `run_code` in place of the tools, and each call of a program is recorded', async () => {
    const made = gateway();
    const { mcp, end } = await serve(made.path);
    const { client, run } = await connect(mcp, era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['run_code']);
    for (const declared of ['"files.read_text_file"(input: {', '"memory.read_graph"(input?: {'])
      expect(tools[0]?.description).toContain(declared);
    const result = await run(both);
    expect(textOf(result)).toBe('["A note."]');
    await client.close();
    await end();
    const [read, create, graph, program] = await records(made);
    expect(program).toMatchObject({ tool: 'run_code', surface: 'mcp', status: 'succeeded' });
    for (const [record, tool, source] of [
      [read, 'files.read_text_file', 'mcp:files'],
      [create, 'memory.create_entities', 'mcp:memory'],
      [graph, 'memory.read_graph', 'mcp:memory'],
    ] as const)
      expect(record).toMatchObject({
        tool,
        source,
        surface: 'code',
        parentCallId: program?.callId,
        principal: 'ann',
        status: 'succeeded',
      });
  });

  test('is refused in a program what rules refuse', async () => {
    const rules = [
      { effect: 'deny', tools: 'files.*', when: { path: { glob: '*.env' } }, reason: 'secrets' },
      { effect: 'deny', tools: 'memory.*', surface: 'code', reason: 'not_in_programs' },
    ];
    const made = gateway({ rules });
    const { mcp } = await serve(made.path);
    const { run } = await connect(mcp, era);
    const answer =
      await run(`const codeOf = (call) => call.catch(({ code, reason }) => [code, reason]);
return [
  await codeOf(tools['files.read_text_file']({ path: '.env' })),
  await codeOf(tools['files.write_file']({ path: 1 })),
  await codeOf(tools['memory.read_graph']({})),
];`);
    expect(JSON.parse(textOf(answer))).toEqual([
      ['policy_denied', 'secrets'],
      ['invalid_input', null],
      ['policy_denied', 'not_in_programs'],
    ]);
  });

  test.each([
    ['in turn', inTurn],
    ['at once', atOnce],
  ])('is asked about each call that asks: %s', async (_, program) => {
    const made = gateway({ rules: [{ effect: 'ask', tools: 'kept.remove' }] }, handwritten);
    const { mcp, ask, end } = await serve(made.path);
    const one = await connect(mcp, era, ['allow_once', 'reject_once', 'allow_once'], withKept);
    const answer = await one.run(program);
    expect(JSON.parse(textOf(answer)).toSorted()).toEqual([
      'approval_denied rejected',
      'done',
      'done',
    ]);
    expect(one.questions).toHaveLength(3);
    for (const question of one.questions) expect(question).toContain('kept.remove (from mcp:kept)');
    expect((await ask('')).approvals).toEqual([]);
    await one.client.close();
    await end();
    const removals = (await records(made)).filter(({ tool }) => tool === 'kept.remove');
    const ended = removals.filter(({ status }) => status !== 'pending');
    expect(ended.map(({ surface, status }) => [surface, status]).toSorted()).toEqual([
      ['code', 'rejected'],
      ['code', 'succeeded'],
      ['code', 'succeeded'],
    ]);
  });

  test('that cannot be asked: the calls are kept, and the program goes on after a restart', async () => {
    const made = gateway({ rules: [{ effect: 'ask', tools: 'kept.remove' }] }, handwritten);
    const first = await serve(made.path);
    const { run, client } = await connect(first.mcp, era, undefined, withKept);
    const answer = await run(`const removed = await Promise.all(
  ['a', 'b'].map((text) => tools['kept.remove']({ text })),
);
const entity = { name: 'done', entityType: 'note', observations: removed.map(([{ text }]) => text) };
await tools['memory.create_entities']({ entities: [entity] });`);
    expect(codeOf(answer)).toMatchObject({ code: 'approval_pending' });
    expect(textOf(answer)).toContain('waiting for 2 approvals');
    const [one, two] = (await first.ask('')).approvals ?? [];
    expect(one).toMatchObject({ program: { line: 2 }, parent: { tool: 'run_code' } });
    await first.ask(`/${one?.id}`, { decision: 'allow_once' });
    await client.close();
    await first.end();
    const second = await serve(made.path);
    await second.ask(`/${two?.id}`, { decision: 'allow_once' });
    const written = () => readFileSync(made.at('memory.jsonl'), 'utf8');
    await until(() => existsSync(made.at('memory.jsonl')) && written().includes('done'));
    expect(JSON.parse(written())).toMatchObject({ name: 'done', observations: ['done', 'done'] });
    await second.end();
    const removals = (await records(made)).filter(({ tool }) => tool === 'kept.remove');
    expect(removals.filter(({ status }) => status === 'succeeded')).toHaveLength(2);
  });

  test('that cannot be asked, where nothing is kept, is refused', async () => {
    const rules = [{ effect: 'ask', tools: 'kept.remove' }];
    const made = gateway({ rules, store: undefined, approvals: undefined }, handwritten);
    const { mcp } = await serve(made.path, undefined, undefined, false);
    const { run, client } = await connect(mcp, era, undefined, withKept);
    const program = await run(inTurn);
    const { _meta } = (await client.callTool({ name: 'kept_remove', arguments: {} })) as Answered;
    const direct = codeOf({ content: [], _meta: _meta as object }) as { code: string };
    if (era === 'legacy')
      expect(JSON.parse(textOf(program))[0]).toMatch(new RegExp(`^${direct.code} `));
    else expect(codeOf(program)).toMatchObject({ code: direct.code });
  });
});

test('prompts, resources and questions of servers pass as they do without programs', async () => {
  const expose = ['tools', 'prompts', 'resources'];
  const allow = ['elicitation'];
  const one = { command: node, args: [offering, 'one'], expose, allow };
  const made = gateway({}, { one });
  const { mcp } = await serve(made.path);
  const { client, run, questions } = await connect(mcp, 'legacy', ['allow_once'], ['one']);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain('one.greet');
  expect((await client.listResources()).resources).not.toEqual([]);
  const answer = await run("return JSON.parse((await tools['one.ask']({}))[0].text)");
  expect(JSON.parse(textOf(answer))).toMatchObject({ action: 'accept' });
  expect(questions).toEqual(['The MCP server `one` asks: Which colour?']);
});

test('a tool with a name that means something in programs is left out, and said', async () => {
  const made = gateway({}, { kept: { command: node, args: [kept], prefix: '' } });
  made.write({
    'gateway.json': {
      ...(JSON.parse(readFileSync(made.at('gateway.json'), 'utf8')) as object),
      code: { name: 'tell' },
    },
  });
  const { mcp, said } = await serve(made.path);
  const { client } = await connect(mcp, 'legacy');
  await until(
    async () => (await client.listTools()).tools[0]?.description?.includes('remove(') === true,
  );
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['tell']);
  expect(said()).toMatch(/server `kept`: `tell` is left out/);
});

test('over stdio, a client of the first package runs a program', async () => {
  const made = gateway();
  const client = new OldClient({ name: 'old', version: '1' });
  // A bundle would not find the code of the thread beside it.
  const args = ['--import', import.meta.resolve('tsx'), join(root, 'src/cli/index.ts'), 'serve'];
  await client.connect(
    new OldStdio({
      command: node,
      args: [...args, 'gateway.json'],
      cwd: made.path,
      stderr: 'ignore',
    }) as never,
  );
  onTestFinished(() => client.close());
  await until(async () => {
    const { tools } = await client.listTools();
    return ['files.', 'memory.'].every((name) => tools[0]?.description?.includes(name) === true);
  });
  const answer = await client.callTool({ name: 'run_code', arguments: { code: both } });
  expect(textOf(answer as Answered)).toBe('["A note."]');
});

test('`call` runs a program, and `list` shows what programs call', async () => {
  const { path: cwd } = gateway();
  const source = ['--host-tools', 'gateway.json'];
  const input = JSON.stringify({ code: both });
  const ran = await cli(['call', 'run_code', ...source, '--input', input], { cwd });
  expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([0, { output: ['A note.'] }]);
  expect(ran.stderr).not.toContain('Unknown tool');
  const listed = await cli(['list', ...source], { cwd });
  expect(listed.stdout).toContain('memory.read_graph');
});

test('a call by `inspect` runs a program', async () => {
  const { path: cwd } = gateway({ store: undefined, approvals: undefined });
  const stop = new AbortController();
  let said = '';
  const words = ['inspect', '--host-tools', 'gateway.json', '--port', '0', '--allow-calls'];
  const ended = cli(words, {
    cwd,
    signal: stop.signal,
    onStdout: (text) => {
      said = text;
    },
  });
  await until(() => said.includes('#token='));
  const url = new URL(said.trim());
  const headers = {
    authorization: `Bearer ${url.hash.slice('#token='.length)}`,
    'content-type': 'application/json',
  };
  const body = { profile: '', principal: '', tool: 'run_code', input: { code: both } };
  const ran = await fetch(new URL('api/run', url), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  expect(await ran.json()).toMatchObject({ success: true });
  stop.abort();
  expect((await ended).exit).toBe(0);
});

test('what waits cannot be kept in a folder', async () => {
  const { path: cwd } = gateway({ store: undefined, approvals: { dir: 'waiting' } });
  const { exit, stderr } = await cli(['serve', 'gateway.json', '--http', '0'], { cwd });
  expect(exit).toBe(1);
  expect(stderr).toMatch(/code\[0\]: a folder cannot keep the journals of programs/);
});

test('an edit holds for clients that connect from then on', async () => {
  const made = gateway();
  const { mcp, said } = await serve(made.path);
  const before = await connect(mcp, 'legacy');
  const file = JSON.parse(readFileSync(made.at('gateway.json'), 'utf8')) as object;
  made.write({ 'gateway.json': { ...file, code: { show: 'both' } } });
  await until(() => said().includes('the edit of `code` holds for clients that connect from now'));
  const namesOf = async ({ client }: { client: Client }) =>
    (await client.listTools()).tools.map(({ name }) => name);
  expect(await namesOf(before)).toEqual(['run_code']);
  expect(await namesOf(await connect(mcp, 'legacy'))).toContain('memory_read_graph');
});

test('a hook runs no programs', async () => {
  const { path: cwd } = folder({ 'a.json': { code: true, rules: [] } });
  const { runHook } = await import('../../src/cli/hook-run.ts');
  const event = { hook_event_name: 'PreToolUse', session_id: 's', cwd, tool_name: 'Bash' };
  const ran = await runHook({
    argv: ['hook', 'claude-code', '--host-tools', 'a.json'],
    stdin: JSON.stringify({ ...event, tool_input: { command: 'ls' } }),
    env: { HOME: cwd, XDG_STATE_HOME: cwd, XDG_CACHE_HOME: cwd },
    cwd,
    now: Date.now,
  });
  expect(ran).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('a hook runs no programs'),
  });
});

test('without the package `run`, a call of a program says so', () => {
  const { path: cwd } = folder({ 'a.json': { code: true } });
  const words = ['call', 'run_code', '--host-tools', 'a.json', '--input', '{"code":"return 1"}'];
  const ran = spawnSync(node, ['--require', without, program('src/cli/index.ts'), ...words], {
    cwd,
    env: { ...process.env, WITHOUT: 'run' },
    encoding: 'utf8',
    input: '',
  });
  expect(ran.status).toBe(1);
  expect(ran.stdout).toContain('`run`');
});
