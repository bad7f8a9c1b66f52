/** A gateway: real servers as processes behind the command, and real clients in front of it. */
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyAudit } from '../../src/surfaces/audit/index.ts';
import { takeLock } from '../../src/values/files/lock-file.ts';
import { program } from '../runner/programs.ts';
import { folder, installed } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';
import { until } from './until.ts';

const command = program('src/cli/index.ts');
const kept = fileURLToPath(new URL('./fixtures/gateway-server.mjs', import.meta.url));
const late = fileURLToPath(new URL('./fixtures/late-server.mjs', import.meta.url));
const listed = fileURLToPath(new URL('./fixtures/listed-server.mjs', import.meta.url));
const modern = fileURLToPath(new URL('../surfaces/mcp/client/sdk-server.mjs', import.meta.url));
const memory = join(installed, '@modelcontextprotocol/server-memory/dist/index.js');
const node = process.execPath;
const secret = 'sk-0123456789';
const variable = '$' + '{THE_KEY}';
const server = (path: string, ...args: string[]) => ({ command: node, args: [path, ...args] });
const own = { ...server(kept), env: { KEY: variable } };

interface Listed {
  readonly tools: { readonly name: string; readonly annotations: object }[];
  readonly servers: { readonly name: string; readonly state: string; readonly error?: string }[];
}

async function list(content: object, env: Record<string, string> = { THE_KEY: secret }) {
  const { path } = folder({ 'gateway.json': content });
  const ran = await cli(['list', '--host-tools', 'gateway.json', '--json'], { cwd: path, env });
  return { ...ran, listed: (ran.stdout === '' ? {} : JSON.parse(ran.stdout)) as Listed };
}

/** Serves the file to a client over stdio. */
async function serve(files: Readonly<Record<string, unknown>>, ...argv: string[]) {
  const made = folder(files);
  const transport = new StdioClientTransport({
    command: node,
    args: [command, 'serve', 'gateway.json', ...argv],
    cwd: made.path,
    env: { ...(process.env as Record<string, string>), THE_KEY: secret },
    stderr: 'pipe',
  });
  const said = { text: '' };
  transport.stderr?.on('data', (chunk: Buffer) => {
    said.text += chunk.toString('utf8');
  });
  const client = new Client({ name: 'test', version: '1' }, {});
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    ...made,
    said,
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    text: async (name: string) => {
      const { content } = await client.callTool({ name, arguments: {} });
      return (content as { text: string }[])[0]?.text ?? '';
    },
  };
}

describe('tools that are refused, and parts of schemas that only the server checks,', () => {
  const described = (name: string, inputSchema: object): object => ({
    name,
    description: 'A tool.',
    inputSchema: { type: 'object', ...inputSchema },
  });
  const large = described('large', { description: 'x'.repeat(70_000) });
  const patterned = described('patterned', { properties: { a: { pattern: '(.)\\1' } } });
  const files = (tools: object[]) => ({
    'gateway.json': { mcpServers: { s: server(listed, 'tools.json') } },
    'tools.json': tools,
  });

  test('are named once by `serve`, again with another reason', async () => {
    const { said, client, names, write } = await serve(files([large, patterned]));
    await until(async () => (await names()).includes('s_patterned'));
    expect(await names()).toEqual(['s_change', 's_patterned']);
    const first = said.text;
    expect(first.match(/`large` is left out: .*larger than 65536 bytes/g)).toHaveLength(1);
    expect(first.match(/only the server checks parts of .*`patterned`/g)).toHaveLength(1);
    const change = async (tools: object[], what: string): Promise<void> => {
      write({ 'tools.json': tools });
      await client.callTool({ name: 's.change', arguments: {} });
      await until(() => said.text.includes(what));
    };
    await change([large, patterned, described('new', {})], '`s.new` is new');
    const narrow = described('narrow', { type: 'string' });
    await change([large, narrow], '`narrow` is left out');
    // What was said before is not said again.
    expect(said.text.match(/`large` is left out/g)).toHaveLength(1);
    expect(said.text.match(/parts of the schemas/g)).toHaveLength(1);
  });

  test('are named by `list`, with their places', async () => {
    const made = folder(files([large, patterned]));
    const argv = ['list', '--host-tools', 'gateway.json'];
    const { stdout } = await cli(argv, { cwd: made.path });
    expect(stdout).toMatch(/s: large cannot be taken: .*larger than 65536 bytes/);
    expect(stdout).toMatch(
      /s: patterned: only the server checks \/inputSchema\/properties\/a\/pattern\. Not checked here/,
    );
    const { stdout: json } = await cli([...argv, '--json'], { cwd: made.path });
    expect(JSON.parse(json).servers).toMatchObject([
      {
        failed: [{ name: 'large' }],
        warnings: [{ name: 'patterned', path: '/inputSchema/properties/a/pattern' }],
      },
    ]);
  });
});

describe('a server with a short prefix', () => {
  const tool = (name: string): object => ({
    name,
    description: 'A tool.',
    inputSchema: { type: 'object' },
  });

  test('cannot take the names of another server, even if that is not running', async () => {
    const wide = { ...server(listed, 'tools.json'), prefix: '' };
    const { path } = folder({
      'gateway.json': { mcpServers: { wide, files: { command: 'no-such-command' } } },
      'tools.json': [tool('files.read'), tool('own')],
    });
    const argv = ['list', '--host-tools', 'gateway.json', '--json'];
    const { stdout, stderr } = await cli(argv, { cwd: path });
    const { tools } = JSON.parse(stdout) as Listed;
    expect(tools.map(({ name }) => name).sort()).toEqual(['change', 'own']);
    expect(stderr).toContain(
      '`files.read` is left out: Names that begin with `files.` belong to the server `files`.',
    );
  });

  test('gives names back when an edit adds their server', async () => {
    const wide = { ...server(listed, 'tools.json'), prefix: '' };
    const { said, names, write } = await serve({
      'gateway.json': { mcpServers: { wide } },
      'tools.json': [tool('s.tell')],
    });
    await until(async () => (await names()).includes('s_tell'));
    write({ 'gateway.json': { mcpServers: { wide, s: own } } });
    await until(() => said.text.includes('belong to the server `s`'));
    await until(async () => (await names()).includes('s_leak'));
    expect((await names()).filter((name) => name === 's_tell')).toHaveLength(1);
  });
});

describe('`list`', () => {
  test('names the tools that only read according to a server without labels', async () => {
    const files = server(
      join(installed, '@modelcontextprotocol/server-filesystem/dist/index.js'),
      '.',
    );
    const textOf = async (entry: object) => {
      const { path } = folder({ 'gateway.json': { mcpServers: { files: entry } } });
      return (await cli(['list', '--host-tools', 'gateway.json'], { cwd: path })).stdout;
    };
    expect(await textOf({ ...files, tools: ['read_text_file', 'write_file'] })).toMatch(
      /^files\.read_text_file +remote +destructive \(no label; its server says: read-only\) /m,
    );
    expect(await textOf({ ...files, tools: ['write_file'] })).toMatch(
      /^files\.write_file +remote +destructive {2}/m,
    );
    expect(await textOf({ ...files, tools: ['read_text_file', 'write_file'] })).toContain(
      'files: it says that these only read: read_text_file. They count as destructive until you ' +
        'label them: labels: { NAME: { annotations: { readOnly: true, destructive: false } } }',
    );
    const labels = { 'read_*': { annotations: { readOnly: true, destructive: false } } };
    expect(await textOf({ ...files, tools: ['read_text_file'], labels })).not.toContain('it says');
  });

  test('has the tools of servers of both eras, by prefix, glob, label and rule', async () => {
    const { listed, stderr } = await list({
      mcpServers: {
        kept: {
          ...own,
          tools: ['t*', 'remove'],
          labels: {
            tell: { annotations: { destructive: false, openWorld: false, readOnly: true } },
          },
        },
        new: { ...server(modern), prefix: 'n_' },
        memory: { ...server(memory), tools: ['read_graph'] },
      },
      rules: [{ effect: 'deny', tools: 'kept.remove' }],
    });
    expect(stderr).toBe('');
    expect(listed.tools.map(({ name }) => name).sort()).toEqual([
      'kept.tell',
      'memory.read_graph',
      'n_double',
      'n_wait',
    ]);
    expect(listed.tools.find(({ name }) => name === 'kept.tell')?.annotations).toEqual({
      readOnly: true,
      destructive: false,
      openWorld: false,
    });
    expect(listed.servers.map(({ name, state }) => [name, state])).toEqual([
      ['kept', 'ready'],
      ['new', 'ready'],
      ['memory', 'ready'],
    ]);
  });

  test('names the tools that are only for the app of a server, and lists them as hidden', async () => {
    const { path } = folder({
      'gateway.json': { mcpServers: { kept: { ...server(kept, 'hello', 'leak'), tools: ['*'] } } },
    });
    const { stdout } = await cli(['list', '--host-tools', 'gateway.json'], { cwd: path });
    expect(stdout).toContain(
      '  kept: leak is hidden from models: it is only for the app of its server.\n',
    );
    expect(stdout).toContain('kept.leak  app_only');
    expect(stdout).toContain('kept.tell');
  });

  test('says which globs of `tools` match nothing, once for each server', async () => {
    const { stderr, listed } = await list({
      mcpServers: { kept: { ...own, tools: ['kept.t*', 'remove', 'tel'] } },
    });
    expect(listed.tools.map(({ name }) => name)).toEqual(['kept.remove']);
    expect(stderr).toBe(
      'warning: server `kept`: `tools`: `kept.t*` matches none of its tools; write `t*`, without ' +
        'the prefix\n' +
        'warning: server `kept`: `tools`: `tel` matches none of its tools, did you mean `tell`?\n',
    );
  });

  test('says which servers do not work, and has the tools of the others', async () => {
    const { exit, listed, stderr } = await list(
      {
        mcpServers: {
          lost: { command: './not-there' },
          keyless: own,
          kept: server(kept),
        },
      },
      {},
    );
    expect(exit).toBe(1);
    expect(listed.tools.some(({ name }) => name === 'kept.tell')).toBe(true);
    expect(listed.servers).toMatchObject([
      { name: 'lost', state: 'waiting', error: expect.stringContaining('not-there') },
      {
        name: 'keyless',
        state: 'off',
        error: 'the variable `THE_KEY` is not set; set it and start again',
      },
      { name: 'kept', state: 'ready' },
    ]);
    expect(stderr).toContain('server `keyless` is not started: the variable `THE_KEY` is not set');
  });

  test('of a file with an error, nothing starts', async () => {
    const { exit, stderr, stdout } = await list({ mcpServers: { a: { comand: 'x' } } });
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain('unknown key `comand`; did you mean `command`?');
    expect(stderr).toContain('A server did not load');
  });

  test('a profile that is broken keeps a gateway from starting', async () => {
    const { exit, stderr } = await list({
      mcpServers: { kept: own },
      profiles: { p: { tools: ['other'] } },
    });
    expect(exit).toBe(1);
    expect(stderr).toContain('An entry did not load, so the gateway does not start.');
  });
});

test('`validate` checks a gateway without starting anything', async () => {
  const { path } = folder({ 'gateway.json': { mcpServers: { a: { command: './not-there' } } } });
  expect((await cli(['validate', 'gateway.json'], { cwd: path })).exit).toBe(0);
});

describe('`serve`', () => {
  test('calls pass the gates, and values of the environment are kept out of sight', async () => {
    const { client, text, at, path, said } = await serve({
      'gateway.json': {
        mcpServers: { kept: own },
        rules: [{ effect: 'deny', tools: 'kept.remove', when: { text: 'all' } }],
        audit: { path: 'audit.jsonl' },
      },
    });
    // An output is data, and stays as it is.
    expect(await text('kept.tell')).toContain(`hello ${secret}`);
    expect((await text('kept.tell')).endsWith(realpathSync(path))).toBe(true);
    expect(await text('kept.leak')).toContain('The key [redacted] is not valid.');
    const denied = await client.callTool({ name: 'kept.remove', arguments: { text: 'all' } });
    expect(denied._meta).toMatchObject({ 'host-tools/error': { code: 'policy_denied' } });
    await client.callTool({ name: 'kept.remove', arguments: { text: `x ${secret}` } });
    await client.close();
    await until(() => readFileSync(at('audit.jsonl'), 'utf8').split('\n').length === 6);
    const log = readFileSync(at('audit.jsonl'), 'utf8');
    expect(log).toContain('x [redacted]');
    expect(log + said.text).not.toContain(secret);
    expect(await verifyAudit(at('audit.jsonl'))).toMatchObject({ ok: true, lines: 5 });
  });

  test('a server that dies is started again, and calls to others continue', async () => {
    const { client, text } = await serve({
      'gateway.json': { mcpServers: { kept: own, other: own } },
    });
    const pid = (await text('kept.tell')).split(' ')[2];
    const hanging = client.callTool({ name: 'kept.hang', arguments: {} });
    const died = await client.callTool({ name: 'kept.die', arguments: {} });
    expect(died._meta).toMatchObject({ 'host-tools/error': { code: 'executor_lost' } });
    expect((await hanging)._meta).toMatchObject({ 'host-tools/error': { code: 'executor_lost' } });
    expect(await text('other.tell')).toContain('hello');
    await until(async () => {
      const [, , again] = (await text('kept.tell')).split(' ');
      return /^\d+$/.test(again ?? '') && again !== pid;
    });
  });

  test('an edit takes effect as a whole or not at all, and clients stay connected', async () => {
    const before = { mcpServers: { kept: own, other: own } };
    const { names, replace, said, text } = await serve({ 'gateway.json': before });
    const pid = (await text('other.tell')).split(' ')[2];
    const bad = { mcpServers: { kept: { ...own, env: { KEY: '$' + '{NOT_SET_ANYWHERE}' } } } };
    replace('gateway.json', bad);
    await until(() => said.text.includes('the variable `NOT_SET_ANYWHERE` is not set'));
    expect(said.text).toContain('nothing was changed');
    expect(await text('kept.tell')).toContain('hello');
    replace('gateway.json', {
      mcpServers: { kept: { ...own, args: [kept, 'servus'] }, other: own },
      rules: [{ effect: 'deny', tools: '*.die' }],
    });
    await until(async () => (await text('kept.tell')).startsWith('servus'));
    expect(await names()).not.toContain('kept_die');
    // A server that the edit does not touch goes on.
    expect((await text('other.tell')).split(' ')[2]).toBe(pid);
    replace('gateway.json', { mcpServers: { other: own } });
    await until(async () => !(await names()).some((name) => name.startsWith('kept_')));
  });

  test('`--pin` writes the first listing down, in a folder that it makes, and what differs later is withheld', async () => {
    const content = (greeting: string) => ({
      mcpServers: {
        kept: {
          ...server(kept, greeting),
          pins: 'pins/kept.json',
          labels: { '*': { annotations: { destructive: false } } },
        },
      },
    });
    const first = await serve({ 'gateway.json': content('hello') }, '--pin');
    expect(await first.names()).toContain('kept_tell');
    const pins = JSON.parse(readFileSync(first.at('pins/kept.json'), 'utf8')) as object;
    expect(Object.keys(pins)).toContain('kept.tell');
    const again = await cli(['list', '--host-tools', 'gateway.json'], { cwd: first.path });
    expect(again.stdout).toContain('kept  ready  5 tools');
    writeFileSync(first.at('gateway.json'), JSON.stringify(content('other')));
    const drifted = await cli(['list', '--host-tools', 'gateway.json'], { cwd: first.path });
    expect(drifted.stdout).toContain('kept: kept.tell differs from its pin');
    expect(drifted.stdout).toContain('A model gets no tools.');
  });

  test('tools whose pins cannot be written are not taken', async () => {
    const noted = 'import{appendFileSync}from"node:fs";appendFileSync("starts",".")';
    const entry = {
      ...server('--import', `data:text/javascript,${noted}`, kept),
      pins: 'pins/kept.json',
    };
    const files = { 'gateway.json': { mcpServers: { kept: entry } }, pins: 'a file' };
    const { path, at } = folder(files);
    const stop = new AbortController();
    let said = '';
    const ended = cli(['serve', 'gateway.json', '--http', '0', '--pin'], {
      cwd: path,
      signal: stop.signal,
      onStderr: (text) => {
        said = text;
      },
    });
    await until(() => said.includes('Serving MCP'));
    expect(said).toContain('server `kept`: Cannot write `');
    const client = new Client({ name: 'test', version: '1' }, {});
    const url = /Serving MCP at (\S+)/.exec(said)?.[1] ?? '';
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    // The server is started again, and its pins still cannot be written.
    const tools = async () => (await client.listTools()).tools;
    const starts = () => readFileSync(at('starts'), 'utf8').length;
    await until(async () => starts() > 2 || (await tools()).length > 0);
    expect(await tools()).toEqual([]);
    await client.close();
    stop.abort();
    await ended;
  });

  test('pins that do not exist keep the server off', async () => {
    const { listed } = await list({ mcpServers: { kept: { ...own, pins: 'pins.json' } } });
    expect(listed.servers).toMatchObject([
      { state: 'waiting', error: expect.stringContaining('start once with `serve --pin`') },
    ]);
  });

  test('over HTTP, clients share the processes of the servers', async () => {
    const { path } = folder({ 'gateway.json': { mcpServers: { kept: own } } });
    const stop = new AbortController();
    const listening: { url: string | undefined } = { url: undefined };
    const ended = cli(['serve', 'gateway.json', '--http', '0', '--principal', 'ann'], {
      cwd: path,
      env: { THE_KEY: secret },
      signal: stop.signal,
      onStderr: (text) => {
        listening.url ??= /http:\/\/\S+/.exec(text)?.[0];
      },
    });
    await until(() => listening.url !== undefined);
    const pids = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const client = new Client({ name, version: '1' });
        await client.connect(new StreamableHTTPClientTransport(new URL(listening.url as string)));
        const { content } = await client.callTool({ name: 'kept.tell', arguments: {} });
        await client.close();
        return (content as { text: string }[])[0]?.text.split(' ')[2];
      }),
    );
    expect(pids[0]).toMatch(/^\d+$/);
    expect(pids[1]).toBe(pids[0]);
    stop.abort();
    expect((await ended).exit).toBe(0);
  });

  test('a profile that was edited applies to clients that are connected', async () => {
    const content = (...tools: string[]) => ({
      mcpServers: { kept: own },
      profiles: { p: { tools } },
    });
    const { names, replace } = await serve(
      { 'gateway.json': content('kept.tell') },
      '--profile',
      'p',
    );
    await until(async () => (await names()).join() === 'kept_tell');
    replace('gateway.json', content('kept.leak', 'kept.hang'));
    await until(async () => (await names()).join() === 'kept_leak,kept_hang');
  });

  test('a client that lists at once gets the tools of servers that are ready', async () => {
    const slow = server(late, '10000');
    const broken = { command: node, args: ['-e', 'process.exit(1)'] };
    const { names } = await serve({ 'gateway.json': { mcpServers: { slow, broken, kept: own } } });
    // However busy the machine is, the first listing waits for the first server.
    expect(new Set((await names()).map((name) => name.split('_')[0]))).toEqual(new Set(['kept']));
  });

  test('as long as no server is ready, a client waits longer', async () => {
    const slow = server(late, '5500');
    const { names } = await serve({ 'gateway.json': { mcpServers: { slow } } });
    expect(await names()).toContain('slow_tell');
  });

  test('a client connects before any server is ready, and its list waits for the first one', async () => {
    const starts = `const wait = setInterval(() => {
      if (!fs.existsSync('go')) return;
      clearInterval(wait);
      process.argv.splice(1);
      void import(${JSON.stringify(kept)});
    }, 20)`;
    const slow = { command: node, args: ['-e', starts] };
    const { names, at } = await serve({ 'gateway.json': { mcpServers: { slow } } });
    const listing = names();
    writeFileSync(at('go'), '');
    expect(await listing).toContain('slow_tell');
  });

  test('a client waits no longer when every server has failed', async () => {
    const broken = { command: './not-there' };
    const { names, said } = await serve({ 'gateway.json': { mcpServers: { broken } } });
    expect(await names()).toEqual([]);
    expect(said.text).toContain('warning: server `broken`: Cannot connect to the MCP server');
  });

  test('a gateway whose input has ended says that, and not that its servers are slow', async () => {
    const script = 'setInterval(() => {}, 1000)';
    const silent = { command: node, args: ['-e', script] };
    const { path } = folder({ 'gateway.json': { mcpServers: { silent } } });
    const { exit, stderr } = await cli(['serve', 'gateway.json'], { cwd: path, stdin: '' });
    expect(exit).toBe(0);
    expect(stderr).toContain('Standard input ended before a request was answered');
    expect(stderr).not.toContain('no server is ready');
  });

  test('a gateway that is interrupted at its start says nothing of its servers', async () => {
    const silent = { command: node, args: ['-e', 'setInterval(() => {}, 1000)'] };
    const { path } = folder({ 'gateway.json': { mcpServers: { silent } } });
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    const { stderr } = await cli(['serve', 'gateway.json'], { cwd: path, signal: stop.signal });
    expect(stderr).not.toMatch(/no server is ready|Standard input/);
  });

  test('a server that never answers is ended with the gateway', async () => {
    const script = "fs.writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)";
    const { path, at } = folder({
      'gateway.json': {
        mcpServers: { silent: { command: node, args: ['-e', script] }, kept: own },
      },
    });
    const { exit } = await cli(['serve', 'gateway.json'], {
      cwd: path,
      env: { THE_KEY: secret },
      stdin: '',
    });
    expect(exit).toBe(0);
    const pid = Number(readFileSync(at('pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('a log that a killed gateway still has for a moment is waited for', async () => {
    const content = {
      mcpServers: { kept: server(kept) },
      audit: { path: 'audit.jsonl', exclusive: true },
    };
    const { path, at } = folder({ 'gateway.json': content });
    const { release } = takeLock(at('audit.jsonl.lock'), 'test');
    const stop = new AbortController();
    let said = '';
    const ended = cli(['serve', 'gateway.json', '--http', '0'], {
      cwd: path,
      signal: stop.signal,
      onStderr: (text) => {
        said = text;
        if (said.includes('Waiting up to 3 seconds')) release();
      },
    });
    await until(() => said.includes('Serving MCP'));
    stop.abort();
    expect((await ended).exit).toBe(0);
  });

  test('an exclusive log that another gateway writes keeps a second one from starting', async () => {
    const content = {
      mcpServers: { kept: own },
      audit: { path: 'audit.jsonl', exclusive: true },
    };
    const { path, names } = await serve({ 'gateway.json': content });
    expect(await names()).toContain('kept_tell');
    const second = await cli(['serve', 'gateway.json'], { cwd: path, env: { THE_KEY: secret } });
    expect(second.exit).toBe(1);
    expect(second.stderr).toContain('expected to be the only writer of `path`. Process ');
    expect(second.stderr).toContain(
      'If another client has started a gateway with this file, start one gateway with ' +
        '`host-tools serve FILE --http PORT` instead, and let all clients connect to it.',
    );
  });
});
