/**
 * The official servers side by side behind one gateway, and the clients that people have in front
 * of it: both generations of the protocol's package, and the command line of the MCP inspector.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyAudit } from '../../src/surfaces/audit/index.ts';
import { program } from '../runner/programs.ts';
import { type Folder, folder, installed } from '../surfaces/config/folder.ts';
import { cli, root } from './cli-run.ts';

const run = promisify(execFile);
const node = process.execPath;
const command = program('src/cli/index.ts');
const inspector = join(installed, '@modelcontextprotocol/inspector-cli/build/cli.js');
const entry = (name: string): string =>
  join(installed, `@modelcontextprotocol/server-${name}/dist/index.js`);

const everyServer = ['every', 'files', 'memory', 'think'];

/**
 * A folder with a gateway over the four servers, or over some of them. The folder of notes is what
 * may be read.
 */
function gateway(more: object = {}, servers: readonly string[] = everyServer): Folder {
  const made = folder({ 'notes/a.txt': 'A note.' });
  made.write({
    'gateway.json': {
      mcpServers: only(servers, {
        every: { command: node, args: [entry('everything')] },
        files: {
          command: node,
          args: [entry('filesystem'), 'notes'],
          labels: { 'read_*': { annotations: { readOnly: true, destructive: false } } },
        },
        memory: {
          command: node,
          args: [entry('memory')],
          prefix: 'm_',
          env: { MEMORY_FILE_PATH: made.at('memory.jsonl') },
        },
        think: {
          command: node,
          args: [entry('sequential-thinking')],
          env: { DISABLE_THOUGHT_LOGGING: 'true' },
        },
      }),
      rules: [
        { effect: 'deny', tools: 'files.move_file', reason: 'no_moving' },
        { effect: 'deny', tools: 'files.*', when: { path: { glob: '*.env' } }, reason: 'secrets' },
      ],
      audit: { path: 'audit.jsonl' },
      ...more,
    },
  });
  return made;
}

const only = (names: readonly string[], entries: Readonly<Record<string, object>>): object =>
  Object.fromEntries(Object.entries(entries).filter(([name]) => names.includes(name)));

/** What is used of a client of either generation. */
interface AnyClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(
    call: { name: string; arguments: Record<string, unknown> },
    options?: { onprogress: () => void },
  ): Promise<unknown>;
  close(): Promise<void>;
}

interface Answered {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
  readonly _meta?: object;
}

const call = async (client: AnyClient, name: string, input: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: input })) as Answered;
/** A call that goes on for half a minute, and when it is known to be at its server. */
function longCall(client: AnyClient): { begun: Promise<void>; answer: Promise<Answered> } {
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const answer = client.callTool(
    {
      name: 'every.trigger-long-running-operation',
      arguments: { duration: 30, steps: 60 },
    },
    { onprogress: begin },
  );
  return { begun, answer: answer as Promise<Answered> };
}
const textOf = ({ content }: Answered): string => content.map(({ text }) => text).join();
const codeOf = ({ _meta }: Answered): string | undefined =>
  (_meta as { 'host-tools/error'?: { code: string } } | undefined)?.['host-tools/error']?.code;

const generations = {
  v1: async (transport: OldStdio | OldHttp): Promise<AnyClient> => {
    const client = new OldClient({ name: 'old', version: '1' });
    await client.connect(transport as never);
    return {
      listTools: () => client.listTools(),
      callTool: (made, options) => client.callTool(made, undefined, options),
      close: () => client.close(),
    };
  },
  v2: async (
    transport: StdioClientTransport | StreamableHTTPClientTransport,
    mode: 'auto' | 'legacy' = 'auto',
  ): Promise<AnyClient> => {
    const client = new Client(
      { name: 'new', version: '1' },
      mode === 'auto' ? { versionNegotiation: { mode } } : {},
    );
    await client.connect(transport);
    return client as unknown as AnyClient;
  },
};

const start = (cwd: string) => ({
  command: node,
  args: [command, 'serve', 'gateway.json'],
  cwd,
  stderr: 'pipe' as const,
});

/** Waits for something to become true, a little while. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 2_000; turn++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('It did not come true.');
}

const names = async (client: AnyClient): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

/** Waits until a server of each kind is there, whatever the machine does besides. */
const allListed = (client: AnyClient): Promise<void> =>
  listed(client, [
    'every_echo',
    'files_read_text_file',
    'm_read_graph',
    'think_sequentialthinking',
  ]);
const listed = (client: AnyClient, tools: readonly string[]): Promise<void> =>
  until(async () => {
    const found = await names(client);
    return tools.every((name) => found.includes(name));
  });

/**
 * The memory server loses what it is told by two calls at a time: each reads and replaces its file.
 */
type Turns = (work: () => Promise<Answered>) => Promise<Answered>;

/** Calls of every server, and what the rules and the labels make of them. */
async function useEach(
  client: AnyClient,
  { at }: Folder,
  person: string,
  inTurn: Turns = (work) => work(),
): Promise<void> {
  await allListed(client);
  expect(await names(client)).not.toContain('files_move_file');
  const [echo, sum, note, secret, moved, made, thought, wrong] = await Promise.all([
    call(client, 'every.echo', { message: 'hello' }),
    call(client, 'every.get-sum', { a: 2, b: 3 }),
    call(client, 'files.read_text_file', { path: at('notes/a.txt') }),
    call(client, 'files.read_text_file', { path: at('notes/prod.env') }),
    call(client, 'files.move_file', { source: at('notes/a.txt'), destination: at('notes/b.txt') }),
    inTurn(() =>
      call(client, 'm_create_entities', {
        entities: [{ name: person, entityType: 'person', observations: ['wrote notes'] }],
      }),
    ),
    call(client, 'think.sequentialthinking', {
      thought: 'First.',
      nextThoughtNeeded: false,
      thoughtNumber: 1,
      totalThoughts: 1,
    }),
    call(client, 'every.get-sum', { a: 'two' }),
  ]);
  expect([echo, sum, note].map(textOf)).toEqual([
    'Echo: hello',
    'The sum of 2 and 3 is 5.',
    expect.stringContaining('A note.'),
  ]);
  expect([secret, moved].map(codeOf)).toEqual(['policy_denied', 'policy_denied']);
  expect(textOf(secret)).toContain('secrets');
  expect(made.isError ?? false).toBe(false);
  expect(textOf(await inTurn(() => call(client, 'm_read_graph')))).toContain(person);
  expect(thought.structuredContent).toMatchObject({ thoughtNumber: 1 });
  expect(codeOf(wrong)).toBe('invalid_input');
}

/** The lines of the audit log once there are so many. */
async function lines(made: Folder, count: number): Promise<readonly Record<string, unknown>[]> {
  const read = () =>
    readFileSync(made.at('audit.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await until(() => read().length >= count);
  expect(await verifyAudit(made.at('audit.jsonl'))).toMatchObject({ ok: true, lines: count });
  return read();
}

/** Calls that `useEach` makes. */
const each = 9;

describe('over stdio', () => {
  test.each([
    ['v1', (cwd: string) => generations.v1(new OldStdio(start(cwd)))],
    [
      'v2, era of 2025',
      (cwd: string) => generations.v2(new StdioClientTransport(start(cwd)), 'legacy'),
    ],
    ['v2, era of 2026', (cwd: string) => generations.v2(new StdioClientTransport(start(cwd)))],
  ])('a client of %s calls tools of every server', async (_, connect) => {
    const made = gateway();
    const client = await connect(made.path);
    onTestFinished(() => client.close());
    await useEach(client, made, 'Ada');
    await client.close();
    expect((await lines(made, each)).map(({ tool }) => tool)).toEqual(
      expect.arrayContaining(['every.echo', 'files.move_file', 'm_read_graph']),
    );
  });

  test('each client has a whole log, also after the first gateway was killed', async () => {
    const made = gateway({ audit: { path: 'audit.jsonl', required: true } }, ['think']);
    const open = async () => {
      const transport = new StdioClientTransport({ ...start(made.path), stderr: 'pipe' });
      const said = { text: '' };
      transport.stderr?.on('data', (chunk: Buffer) => {
        said.text += chunk.toString('utf8');
      });
      const client = await generations.v2(transport);
      onTestFinished(() => client.close());
      // A client of the 2026 era connects before the process has a log.
      await listed(client, ['think_sequentialthinking']);
      return { client, said, pid: transport.pid as number };
    };
    const thoughts = {
      thought: 'So.',
      nextThoughtNeeded: false,
      thoughtNumber: 1,
      totalThoughts: 1,
    };
    const think = ({ client }: Awaited<ReturnType<typeof open>>) =>
      call(client, 'think.sequentialthinking', thoughts);
    const first = await open();
    const second = await open();
    const third = await open();
    for (const [one, times] of [
      [first, 3],
      [second, 2],
      [third, 1],
    ] as const)
      await Promise.all(Array.from({ length: times }, () => think(one)));
    const logs = ['audit.jsonl', 'audit-2.jsonl', 'audit-3.jsonl'];
    // The last line of a call is written after its answer.
    const whole = async (log: string, lines: number): Promise<void> => {
      await until(async () => (await verifyAudit(made.at(log))).lines >= lines);
      expect(await verifyAudit(made.at(log))).toEqual({ ok: true, lines });
    };
    for (const [at, log] of logs.entries()) await whole(log, 6 - 2 * at);
    expect(first.said.text).not.toContain('audit');
    expect(second.said.text.match(/^.*audit.*$/gm)).toEqual([
      'Another process writes the audit log `audit.jsonl`, so this one writes `audit-2.jsonl` ' +
        'beside it.',
    ]);

    // The process of the command starts a second one, which ends when it is killed.
    process.kill(first.pid, 'SIGKILL');
    await until(async () => {
      const again = await open();
      await think(again);
      await again.client.close();
      return readFileSync(made.at('audit.jsonl'), 'utf8').includes('"type":"recovered"');
    });
    await think(second);
    await whole('audit-2.jsonl', 6);
    const report = await cli(['audit', 'report', ...logs], { cwd: made.path });
    expect(report.stdout).toMatch(/^audit\.jsonl: \d+ lines, all as written\.$/m);
    expect(report.exit).toBe(0);
  });

  test('the command line of the inspector lists and calls', async () => {
    // It starts the gateway and its servers each time.
    const made = gateway({ audit: undefined }, ['files']);
    const inspect = async (...argv: string[]) => {
      const { stdout } = await run(
        node,
        [inspector, '--cli', node, command, 'serve', made.at('gateway.json'), ...argv],
        // The program looks for its own package.json from here.
        { cwd: join(root, 'test') },
      );
      return JSON.parse(stdout.slice(stdout.indexOf('{'))) as Answered & {
        tools: { name: string }[];
      };
    };
    expect((await inspect('--method', 'tools/list')).tools.length).toBeGreaterThan(0);
    const told = ['--method', 'tools/call', '--tool-name', 'files.read_text_file', '--tool-arg'];
    // It calls at once, whether or not the server has started.
    const ask = async (file: string): Promise<Answered> => {
      for (;;) {
        const answered = await inspect(...told, `path=${made.at(file)}`);
        if (codeOf(answered) !== 'tool_not_found') return answered;
      }
    };
    expect(textOf(await ask('notes/a.txt'))).toContain('A note.');
    const secret = await ask('notes/prod.env');
    expect(codeOf(secret)).toBe('policy_denied');
  });
});

/** Serves a gateway over HTTP until the test ends. */
async function overHttp({ path }: Folder): Promise<{ readonly url: URL; stop(): Promise<void> }> {
  const stop = new AbortController();
  const listening: { url: string | undefined } = { url: undefined };
  const ended = cli(['serve', 'gateway.json', '--http', '0', '--principal', 'ann'], {
    cwd: path,
    env: {},
    signal: stop.signal,
    onStderr: (text) => {
      listening.url ??= /http:\/\/\S+/.exec(text)?.[0];
    },
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  onTestFinished(end);
  await until(() => listening.url !== undefined);
  return { url: new URL(listening.url as string), stop: end };
}

test('over HTTP, clients of both generations and the inspector share one gateway', async () => {
  const made = gateway();
  const { url, stop } = await overHttp(made);
  const [old, legacy, modern] = await Promise.all([
    generations.v1(new OldHttp(url)),
    generations.v2(new StreamableHTTPClientTransport(url), 'legacy'),
    generations.v2(new StreamableHTTPClientTransport(url)),
  ]);
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: Turns = (work) => {
    const turn = last.then(work, work);
    last = turn;
    return turn;
  };
  await Promise.all([
    useEach(old, made, 'Ada', inTurn),
    useEach(legacy, made, 'Grace', inTurn),
    useEach(modern, made, 'Edsger', inTurn),
  ]);
  const { stdout } = await run(
    node,
    [inspector, '--cli', url.href, '--method', 'tools/call', '--tool-name', 'm_read_graph'],
    { cwd: join(root, 'test') },
  );
  for (const person of ['Ada', 'Grace', 'Edsger']) expect(stdout).toContain(person);
  for (const client of [old, legacy, modern]) await client.close();
  await stop();
  const all = await lines(made, 3 * each + 1);
  expect(new Set(all.map(({ principal }) => principal))).toEqual(new Set(['ann']));
});

describe('while calls run', () => {
  /** The processes that a gateway has started, by their ids. */
  const serversOf = async (gatewayPid: number | null): Promise<ReadonlyMap<number, string>> => {
    const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,args=']);
    const rows = stdout.split('\n').map((line) => /^\s*(\d+)\s+(\d+)\s(.*)$/.exec(line) ?? []);
    const childrenOf = (id: number | null) =>
      rows
        .filter(([, , parent]) => Number(parent) === id)
        .map(([, pid, , args = '']) => [Number(pid), args] as const);
    // The command runs in a process of its own below the first.
    return new Map(childrenOf(gatewayPid).flatMap(([pid]) => childrenOf(pid)));
  };
  test('a server that is killed loses its calls alone, and comes back', async () => {
    const made = gateway();
    const transport = new StdioClientTransport(start(made.path));
    const client = await generations.v2(transport);
    onTestFinished(() => client.close());
    await allListed(client);
    const settled = new Map<string, number>();
    const long = Array.from({ length: 8 }, () => longCall(client));
    const calls = long.flatMap(({ answer }, at) =>
      [
        { name: 'every.', answer },
        { name: 'm_read_graph', answer: call(client, 'm_read_graph') },
        {
          name: 'files.',
          answer: call(client, 'files.list_directory', { path: made.at('notes') }),
        },
      ].map(async ({ name, answer }) => {
        const answered = await answer;
        const key = `${at} ${name}`;
        settled.set(key, (settled.get(key) ?? 0) + 1);
        return { name, code: codeOf(answered), failed: answered.isError === true };
      }),
    );
    await Promise.all(long.map(({ begun }) => begun));
    await until(async () => settled.size >= 16);
    for (const [pid, args] of await serversOf(transport.pid))
      if (args.includes('server-everything')) process.kill(pid, 'SIGKILL');
    const ended = await Promise.all(calls);
    for (const { name, code, failed } of ended)
      if (name === 'every.') expect(code).toBe('executor_lost');
      else expect([name, failed]).toEqual([name, false]);
    expect([...settled.values()]).toEqual(Array.from({ length: 24 }, () => 1));
    await until(
      async () => textOf(await call(client, 'every.echo', { message: 'x' })) === 'Echo: x',
    );
    await client.close();
    const { length } = readFileSync(made.at('audit.jsonl'), 'utf8').trim().split('\n');
    const all = await lines(made, length);
    // Each call has one line, and says how it ended.
    const slow = all.filter(({ tool }) => tool === 'every.trigger-long-running-operation');
    expect(slow).toHaveLength(8);
  });

  test('all servers killed at once: each call ends once, and every server comes back', async () => {
    const made = gateway({ audit: undefined });
    const transport = new OldStdio(start(made.path));
    const client = await generations.v1(transport);
    onTestFinished(() => client.close());
    await allListed(client);
    const servers = await serversOf(transport.pid);
    expect(servers.size).toBe(4);
    const running = Array.from({ length: 4 }, () => longCall(client));
    await Promise.all(running.map(({ begun }) => begun));
    for (const pid of servers.keys()) process.kill(pid, 'SIGKILL');
    expect((await Promise.all(running.map(({ answer }) => answer))).map(codeOf)).toEqual(
      Array.from({ length: 4 }, () => 'executor_lost'),
    );
    await until(async () => {
      const answered = await Promise.all([
        call(client, 'every.echo', { message: 'x' }),
        call(client, 'm_read_graph'),
        call(client, 'files.list_allowed_directories'),
        call(client, 'think.sequentialthinking', {
          thought: 'Again.',
          nextThoughtNeeded: false,
          thoughtNumber: 1,
          totalThoughts: 1,
        }),
      ]);
      return answered.every(({ isError }) => isError !== true);
    });
  });

  test('a server that an edit replaces loses its calls alone', async () => {
    const made = gateway({ audit: undefined }, ['every', 'memory']);
    const client = await generations.v2(new StdioClientTransport(start(made.path)));
    onTestFinished(() => client.close());
    await listed(client, ['every_echo', 'm_read_graph']);
    const ended: string[] = [];
    const lost = longCall(client);
    await lost.begun;
    const content = JSON.parse(readFileSync(made.at('gateway.json'), 'utf8'));
    content.mcpServers.every.labels = { echo: { timeout: 20 } };
    made.replace('gateway.json', content);
    const others = (async () => {
      while (ended.length === 0) {
        const { isError } = await call(client, 'm_read_graph');
        expect(isError ?? false).toBe(false);
      }
    })();
    ended.push(codeOf(await lost.answer) ?? 'done');
    await others;
    expect(ended).toEqual(['executor_lost']);
    await until(
      async () => textOf(await call(client, 'every.echo', { message: 'x' })) === 'Echo: x',
    );
  });
});
