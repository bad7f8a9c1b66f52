import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { observeCalls } from '../../../src/extend.ts';
import { HostToolRegistry, MisuseError, type Rule } from '../../../src/index.ts';
import {
  type AcpClient,
  type AcpClientOptions,
  type AcpTerminals,
  toAcpClient,
} from '../../../src/surfaces/acp/index.ts';
import { linePair, scriptedAgent, type Turn } from './scripted-agent.ts';

const root = mkdtempSync(join(realpathSync(tmpdir()), 'acp-files-'));
const project = join(root, 'project');
beforeAll(() => {
  mkdirSync(join(project, 'src'), { recursive: true });
  symlinkSync(root, join(project, 'out'));
  symlinkSync(join(project, 'src'), join(project, 'link'));
  symlinkSync(join(project, 'loop'), join(project, 'loop'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Terminals that do nothing, and what was asked of them. */
function terminals(): AcpTerminals & { readonly asked: string[] } {
  const asked: string[] = [];
  let made = 0;
  const note =
    (what: string) =>
    ({ terminalId }: { terminalId: string }) => {
      asked.push(`${what} ${terminalId}`);
      return {};
    };
  return {
    asked,
    create({ command, cwd }) {
      asked.push(`create ${command} in ${cwd}`);
      return { terminalId: `t${++made}` };
    },
    output: () => ({ output: 'out', truncated: false, exitStatus: null }),
    waitForExit: () => ({ exitCode: 3 }),
    kill: note('kill'),
    release: note('release'),
  };
}

async function run(
  rules: readonly Rule[],
  client: Partial<AcpClientOptions>,
  script: (turn: Turn, other: string) => Promise<void>,
) {
  const registry = new HostToolRegistry({ rules });
  const records: string[] = [];
  const inputs: unknown[] = [];
  observeCalls('test', registry, {
    ended({ tool, status, input }) {
      records.push(`${tool} ${status}`);
      inputs.push(input);
    },
  });
  const session = registry.createSession({ sessionId: 'h' });
  const acp = toAcpClient(session, { agent: 'other', cwd: project, ...client });
  const [ours, theirs] = linePair();
  scriptedAgent(theirs, (turn) => script(turn, 's2'));
  const { agent } = acp.connect(ours);
  const { clientCapabilities } = acp;
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities });
  const { sessionId } = await agent.request('session/new', { cwd: project, mcpServers: [] });
  await agent.request('session/new', { cwd: project, mcpServers: [] });
  await agent.request('session/prompt', { sessionId, prompt: [] });
  await acp.close();
  return { records, inputs, clientCapabilities };
}

const reason = (error: unknown): string => (error as Error).message;

describe('files of the client', () => {
  test('are governed calls, and the handler gets the path without links', async () => {
    const said: unknown[] = [];
    const read: unknown[] = [];
    const rules: Rule[] = [
      { id: 'env', effect: 'deny', when: { 'path@name': '.env' }, reason: 'secrets_stay' },
    ];
    const fs = {
      readTextFile: ({ path, line }: { path: string; line?: number | null | undefined }) => {
        read.push([path, line]);
        return { content: 'text' };
      },
    };
    const { records, clientCapabilities } = await run(rules, { fs }, async (turn) => {
      const { client, sessionId } = turn;
      const ask = (path: string) =>
        client.request('fs/read_text_file', { sessionId, path, line: 2 }).catch(reason);
      said.push(await ask(join(project, 'link/a.ts')));
      said.push(await ask(join(project, '.env')));
    });
    expect(clientCapabilities).toEqual({
      fs: { readTextFile: true, writeTextFile: false },
      terminal: false,
    });
    expect(said).toEqual([{ content: 'text' }, expect.stringContaining('secrets_stay')]);
    expect(read).toEqual([[join(project, 'src/a.ts'), 2]]);
    expect(records).toEqual(['fs.read_text_file succeeded', 'fs.read_text_file rejected']);
  });

  test.each([
    ['another folder', '/etc/passwd'],
    ['the folder above', join(project, '../x')],
    ['steps upwards', `${project}/src/../../x`],
    ['a link that leads out', join(project, 'out/x')],
    ['a neighbour with the same beginning', `${project}-2/x`],
    ['a relative path upwards', '../x'],
    ['a NUL that hides the rest', `/etc/passwd\0${project}`],
    ['a very long path', `/${'x/'.repeat(100_000)}`],
    ['a path of another system', 'C:\\Windows\\..\\..\\x'],
    ['an address', 'file:///etc/passwd'],
    ['a loop of links', join(project, 'loop/x')],
    ['no path', ''],
  ])('outside of the folder are refused: %s', async (_, path) => {
    const written: string[] = [];
    const said: string[] = [];
    const fs = { writeTextFile: ({ path: to }: { path: string }) => void written.push(to) };
    const { records } = await run([], { fs }, async ({ client, sessionId }) => {
      const request = { sessionId, path, content: 'x' };
      await client.request('fs/write_text_file', request).catch((e) => said.push(reason(e)));
    });
    expect(written).toEqual([]);
    expect(said).toHaveLength(1);
    expect(records).toEqual([]);
  });

  test('whose handler fails end as failed, and the agent hears why', async () => {
    const said: string[] = [];
    const fs = {
      writeTextFile: () => {
        throw new Error('The disk is full.');
      },
    };
    const { records } = await run([], { fs }, async ({ client, sessionId }) => {
      const request = { sessionId, path: join(project, 'a'), content: 'x' };
      await client.request('fs/write_text_file', request).catch((e) => said.push(reason(e)));
    });
    expect(said).toEqual(['The disk is full.']);
    expect(records).toEqual(['fs.write_text_file failed']);
  });

  test('that no handler gives are not there', async () => {
    const said: string[] = [];
    await run([], {}, async ({ client, sessionId }) => {
      await client
        .request('fs/read_text_file', { sessionId, path: join(project, 'a') })
        .catch((e) => said.push(reason(e)));
    });
    expect(said[0]).toMatch(/Method not found/);
  });
});

describe('terminals of the client', () => {
  test('run what the rules allow, and are recorded with how they ended', async () => {
    const terminal = terminals();
    const said: unknown[] = [];
    const rules: Rule[] = [
      { id: 'rm', effect: 'deny', when: { 'command@commands.*.program': 'rm' } },
    ];
    const { records, inputs } = await run(rules, { terminal }, async ({ client, sessionId }) => {
      const create = (command: string, args: string[], cwd?: string) =>
        client
          .request('terminal/create', { sessionId, command, args, ...(cwd ? { cwd } : {}) })
          .then(({ terminalId }) => terminalId, reason);
      const id = await create('ls', ['-l', 'a b']);
      said.push(await client.request('terminal/wait_for_exit', { sessionId, terminalId: id }));
      await client.request('terminal/release', { sessionId, terminalId: id });
      said.push(await create('sh', ['-c', 'rm -rf x']), await create('rm x', []));
      said.push(await create('ls', [], '/etc'));
    });
    expect(said).toEqual([
      { exitCode: 3, signal: null },
      expect.stringMatching(/not allowed|denied|rm/),
      expect.stringMatching(/not allowed|denied|rm/),
      expect.stringContaining('outside of the folder'),
    ]);
    expect(inputs[0]).toMatchObject({ command: "ls -l 'a b'" });
    expect(terminal.asked).toEqual([`create ls in ${project}`, 'release t1']);
    expect(records.sort()).toEqual([
      'terminal.create rejected',
      'terminal.create rejected',
      'terminal.create succeeded',
    ]);
  });

  test('belong to one session of the agent, and are released when the client closes', async () => {
    const terminal = terminals();
    const said: string[] = [];
    const { records } = await run([], { terminal }, async ({ client, sessionId }, other) => {
      const { terminalId } = await client.request('terminal/create', { sessionId, command: 'ls' });
      for (const method of ['output', 'wait_for_exit', 'kill', 'release'])
        await client
          .request(`terminal/${method}`, { sessionId: other, terminalId })
          .catch((e: unknown) => said.push(reason(e)));
      await client
        .request('terminal/output', { sessionId, terminalId: 't9' })
        .catch((e) => said.push(reason(e)));
    });
    expect(said).toEqual(Array(5).fill('There is no such terminal in this session.'));
    expect(terminal.asked).toEqual([`create ls in ${project}`, 'release t1']);
    expect(records).toEqual(['terminal.create failed']);
  });

  test('are at most a hundred at a time', async () => {
    const said: string[] = [];
    await run([], { terminal: terminals() }, async ({ client, sessionId }) => {
      await Promise.all(
        Array.from({ length: 101 }, () =>
          client
            .request('terminal/create', { sessionId, command: 'ls' })
            .catch((e) => said.push(reason(e))),
        ),
      );
    });
    expect(said).toEqual([expect.stringContaining('100 terminals')]);
  });
});

test.each([
  ['no agent', {}],
  ['an unknown agent', { agent: 'claude_code' }],
  ['an unknown option', { agent: 'other', fss: {} }],
  ['an unknown handler', { agent: 'other', fs: { readFile: () => ({ content: '' }) } }],
  ['half a terminal', { agent: 'other', terminal: { create: () => ({ terminalId: '' }) } }],
  ['a wrong word', { agent: 'other', onUnasked: 'stop' }],
  ['a folder that is no absolute path', { agent: 'other', cwd: 'src' }],
])('toAcpClient throws for %s', (_, options) => {
  const session = new HostToolRegistry().createSession({ sessionId: 'h' });
  expect(() => toAcpClient(session, options as never)).toThrow(MisuseError);
});

/** A client whose person is asked about each call, and answers when the test says so. */
function asked(client: Partial<AcpClientOptions>) {
  let answer = (_: 'allow_once' | 'reject_once'): void => {};
  let told = (): void => {};
  const question = new Promise<void>((resolve) => {
    told = resolve;
  });
  const registry = new HostToolRegistry({ default: 'ask' });
  const records: string[] = [];
  observeCalls('test', registry, {
    ended: ({ tool, status }) => void records.push(`${tool} ${status}`),
  });
  const acp = toAcpClient(registry.createSession({ sessionId: 'h' }), {
    ...{ agent: 'other', cwd: project },
    ask: () => {
      told();
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    ...client,
  });
  const turn = async (script: (turn: Turn) => Promise<void>) => {
    const [ours, theirs] = linePair();
    scriptedAgent(theirs, script);
    const { agent } = acp.connect(ours);
    await agent.request('initialize', { protocolVersion: 1 });
    const { sessionId } = await agent.request('session/new', { cwd: project, mcpServers: [] });
    const done = agent.request('session/prompt', { sessionId, prompt: [] }).catch(() => undefined);
    return { sessionId, done };
  };
  return { acp, turn, question, records, answer: () => answer('allow_once') };
}

describe('while a person is asked', () => {
  test('a path that leads elsewhere meanwhile is refused', async () => {
    const written: string[] = [];
    const place = asked({ fs: { writeTextFile: ({ path }) => void written.push(path) } });
    const path = join(project, 'swapped', 'a.ts');
    mkdirSync(join(project, 'swapped'));
    let said: unknown;
    const { done } = await place.turn(async ({ client, sessionId }) => {
      said = await client
        .request('fs/write_text_file', { sessionId, path, content: '' })
        .catch(reason);
    });
    await place.question;
    rmSync(join(project, 'swapped'), { recursive: true });
    symlinkSync(root, join(project, 'swapped'));
    place.answer();
    await done;
    expect(said).toMatch(/outside of the folder/);
    expect(written).toEqual([]);
    expect(place.records).toEqual(['fs.write_text_file failed']);
    await place.acp.close();
  });

  test.each([
    ['a cancelled turn', (acp: AcpClient, id: string) => acp.cancel(id)],
    ['a closed client', (acp: AcpClient) => void acp.close()],
  ])('%s leaves no request that runs later', async (_, end) => {
    const written: string[] = [];
    const place = asked({ fs: { writeTextFile: ({ path }) => void written.push(path) } });
    const { sessionId, done } = await place.turn(async ({ client, sessionId }) => {
      const params = { sessionId, path: join(project, 'a.ts'), content: '' };
      await client.request('fs/write_text_file', params).catch(reason);
    });
    await place.question;
    end(place.acp, sessionId);
    await done;
    place.answer();
    await place.acp.close();
    expect(written).toEqual([]);
    expect(place.records).toEqual(['fs.write_text_file cancelled']);
  });
});

describe('handlers of the host', () => {
  test('that throw end their calls, and the agent reads why', async () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    const said: unknown[] = [];
    const terminal: AcpTerminals = {
      ...{ create: () => ({ terminalId: 't1' }), output: fail, waitForExit: fail },
      ...{ kill: fail, release: fail },
    };
    const { records } = await run([], { terminal, fs: { readTextFile: fail } }, async (turn) => {
      const { client, sessionId } = turn;
      const path = join(project, 'a.ts');
      said.push(await client.request('fs/read_text_file', { sessionId, path }).catch(reason));
      await client.request('terminal/create', { sessionId, command: 'ls' });
      const terminal = { sessionId, terminalId: 't1' };
      for (const method of ['output', 'wait_for_exit', 'kill', 'release'] as const)
        said.push(await client.request(`terminal/${method}`, terminal).catch(reason));
    });
    expect(said).toEqual(Array(5).fill(expect.stringContaining('broken')));
    expect(records).toEqual(['fs.read_text_file failed', 'terminal.create failed']);
  });

  test('that hang do not keep a closed client, and their calls end', async () => {
    let begun = (): void => {};
    const hangs = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const never = (): Promise<never> => {
      begun();
      return new Promise(() => {});
    };
    const place = asked({ ask: () => 'allow_once', fs: { readTextFile: never } });
    const { done } = await place.turn(async ({ client, sessionId }) => {
      const params = { sessionId, path: join(project, 'a.ts') };
      await client.request('fs/read_text_file', params).catch(reason);
    });
    await hangs;
    await place.acp.close();
    await done;
    expect(place.records).toEqual(['fs.read_text_file cancelled']);
  });
});

test('what is no stream and no connection is refused, with what was expected', async () => {
  const session = new HostToolRegistry().createSession({ sessionId: 'h' });
  const acp = toAcpClient(session, { agent: 'other' });
  expect(() => acp.connect({} as never)).toThrow(/`stream` to be a stream of the SDK/);
  await expect(acp.mcpServers({}, undefined as never)).rejects.toThrow(/`connect` has returned/);
  await acp.close();
});

test('a client that closes while everything is open leaves nothing behind', async () => {
  const asked: string[] = [];
  let open = 0;
  let opened = (): void => {};
  const everything = new Promise<void>((resolve) => {
    opened = () => {
      if (++open === 3) resolve();
    };
  });
  const never = (): Promise<never> => {
    opened();
    return new Promise(() => {});
  };
  const registry = new HostToolRegistry({
    rules: [{ id: 'ask', effect: 'ask', tools: 'execute' }],
  });
  const records: string[] = [];
  observeCalls('test', registry, {
    ended: ({ tool, status }) => void records.push(`${tool} ${status}`),
  });
  const session = registry.createSession({ sessionId: 'h' });
  const acp = toAcpClient(session, {
    ...{ agent: 'other', cwd: project, ask: never, fs: { readTextFile: never } },
    terminal: {
      create: () => ({ terminalId: 't1' }),
      output: () => ({ output: '', truncated: false }),
      waitForExit: never,
      kill: () => null,
      release: ({ terminalId }) => void asked.push(`release ${terminalId}`),
    },
  });
  const [ours, theirs] = linePair();
  scriptedAgent(theirs, async ({ client, sessionId, ask }) => {
    const { terminalId } = await client.request('terminal/create', { sessionId, command: 'ls' });
    const params = { sessionId, path: join(project, 'a.ts') };
    await Promise.allSettled([
      client.request('terminal/wait_for_exit', { sessionId, terminalId }),
      client.request('fs/read_text_file', params),
      ask({ toolCallId: '1', kind: 'execute', rawInput: { command: 'ls' } }),
    ]);
  });
  const connection = acp.connect(ours);
  const { agent } = connection;
  await agent.request('initialize', { protocolVersion: 1 });
  const offered = await acp.mcpServers({ mcpCapabilities: { http: true } }, connection);
  const { url } = offered[0] as unknown as { url: string };
  const { sessionId } = await agent.request('session/new', { cwd: project, mcpServers: [] });
  const turn = agent.request('session/prompt', { sessionId, prompt: [] }).catch(reason);
  await everything;
  await Promise.all([acp.close(), acp.close()]);
  expect(await turn).toMatch(/closed/);
  expect(asked).toEqual(['release t1']);
  expect(records.sort()).toEqual([
    'execute cancelled',
    'fs.read_text_file cancelled',
    'terminal.create failed',
  ]);
  await expect(fetch(url)).rejects.toThrow();
  expect(() => acp.connect(linePair()[0])).toThrow(/was closed/);
  await expect(acp.mcpServers({}, connection)).rejects.toThrow(/was closed/);
});
