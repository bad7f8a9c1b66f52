import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../src/index.ts';
import { createAuditLog } from '../../src/surfaces/audit/index.ts';
import { lineHash, renderLine } from '../../src/surfaces/audit/line.ts';
import { cli } from './cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-audit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'audit.jsonl');
const broken = join(folder, 'broken.jsonl');
const keyed = join(folder, 'keyed.jsonl');
const keyFile = join(folder, 'secret');
const key = 'k'.repeat(40);
const hostile = `"><script>alert('x')</script>&\u202e\u001b[31m`;
let head = '';

beforeAll(async () => {
  writeFileSync(keyFile, `${key}\n`);
  const registry = new HostToolRegistry({
    now: () => Date.UTC(2026, 0, 1),
    approvals: { secret: 'x'.repeat(32) },
    rules: [
      { id: 'no-prod', effect: 'deny', when: { env: 'prod' }, reason: 'frozen' },
      { id: hostile, effect: 'deny', when: { env: 'evil' }, reason: 'evil' },
      { id: 'asks', effect: 'ask', when: { env: 'ask' } },
    ],
  });
  registry.register(
    defineTool({
      name: 'deploy',
      description: 'x',
      parameters: { type: 'object' },
      handler: () => 1,
    }),
  );
  const audit = createAuditLog({ path });
  const other = createAuditLog({ path: keyed, key });
  audit.attach(registry);
  other.attach(registry);
  const session = registry.createSession({
    sessionId: 's',
    principal: hostile,
    approvalMode: 'suspend',
  });
  for (const env of ['dev', 'dev', 'prod', 'evil']) await session.call('deploy', { env });
  await session.call(hostile, {});
  const pending = await session.call('deploy', { env: 'ask' });
  const token = ('approval' in pending ? pending.approval?.token : undefined) ?? '';
  await session.approvals.resume(token, { decision: 'allow_once', by: hostile });
  await session.approvals.resume(token, 'allow_once');
  await Promise.all([audit.close(), other.close()]);
  ({ hash: head } = audit.head());
  writeFileSync(broken, readFileSync(path, 'utf8').replace('"env":"prod"', '"env":"test"'));
});

describe('audit verify', () => {
  test('says that a log is whole', async () => {
    expect(await cli(['audit', 'verify', path, '--head', head])).toMatchObject({
      exit: 0,
      stdout: '8 lines, all as written.\n',
      stderr: '',
    });
    expect(JSON.parse((await cli(['audit', 'verify', path, '--json'])).stdout)).toEqual({
      ok: true,
      lines: 8,
    });
  });

  test('says where it is not, with exit code 1', async () => {
    expect(await cli(['audit', 'verify', broken], { cwd: folder })).toMatchObject({
      exit: 1,
      stdout:
        'Broken at line 3 of 8 (broken.jsonl): the line was changed, or the key is not the one ' +
        'of the log.\n',
    });
    expect(await cli(['audit', 'verify', path, '--head', 'a'.repeat(64)])).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining(
        'Broken at line 9 of 8: the line of `head` is not in the log',
      ),
    });
  });

  test('takes a key from a file', async () => {
    expect((await cli(['audit', 'verify', keyed, '--key-file', keyFile])).exit).toBe(0);
    expect((await cli(['audit', 'verify', keyed])).exit).toBe(1);
  });

  test.each([
    [['audit', 'verify', 'none.jsonl'], 1, 'Cannot read `none.jsonl`: there is no such file.'],
    [['audit', 'report', 'none.jsonl'], 1, 'Cannot read `none.jsonl`: there is no such file.'],
    [['audit', 'verify', path, '--key-file', 'none'], 1, 'Cannot read `none`: '],
    [
      ['audit', 'verify', path, '--head', 'abc'],
      2,
      'Expected `--head` to be a hash of 64 hex digits, got `abc`.',
    ],
  ])('%j', async (argv, exit, said) => {
    const ran = await cli(argv);
    expect(ran).toMatchObject({ exit, stdout: '' });
    expect(ran.stderr).toContain(said);
  });
});

describe('audit report', () => {
  test('counts each call once, and what was denied, and who approved', async () => {
    const { exit, stdout } = await cli(['audit', 'report', path]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^8 lines, all as written\.\n6 calls: /);
    expect(stdout).toContain('3 succeeded, 3 rejected; 33.3 % denied.\n1 resume was refused.\n');
    expect(stdout).toMatch(/\nno-prod +1\n/);
    expect(stdout).toMatch(/\nfrozen +1\n/);
    expect(stdout).not.toContain('\u001b');
    const { summary } = JSON.parse((await cli(['audit', 'report', path, '--json'])).stdout);
    expect(summary).toMatchObject({
      calls: 6,
      denied: 2,
      byStatus: { succeeded: 3, rejected: 3 },
      byTool: { deploy: { calls: 5, denied: 2, failed: 0 } },
      deniedByRule: { 'no-prod': 1, [hostile]: 1 },
      approvers: { [hostile]: { allowed: 1, rejected: 0 } },
      refusedResumes: 1,
      openStarts: [],
    });
  });

  test('counts what an agent did unasked, and what the rules refuse of it', async () => {
    const log = join(folder, 'unasked.jsonl');
    const registry = new HostToolRegistry({
      rules: [{ id: 'rm', effect: 'deny', when: { command: 'rm x' } }],
    });
    const audit = createAuditLog({ path: log });
    audit.attach(registry);
    const session = registry.createSession({ sessionId: 's' });
    session.register(
      defineTool({
        ...{ name: 'run', description: 'Runs.', external: true },
        parameters: { type: 'object', properties: { command: { type: 'string' } } },
      }),
    );
    for (const [command, unasked] of [
      ['ls', false],
      ['ls', true],
      ['rm x', true],
    ] as const) {
      const permission = await session.authorize(
        'run',
        { command },
        { surface: { name: 'acp', unasked } },
      );
      if (permission.allowed) await permission.settle({ output: null });
    }
    await audit.close();
    const { stdout } = await cli(['audit', 'report', log]);
    expect(stdout).toContain(
      '2 calls ran unasked: an agent did not ask first. The rules refuse 1 of them.',
    );
    const { stdout: json } = await cli(['audit', 'report', log, '--json']);
    expect(JSON.parse(json).summary).toMatchObject({ calls: 3, unasked: 2, unaskedRefused: 1 });
  });

  test('counts the calls of agents by the chain of their names', async () => {
    const file = join(folder, 'agents.jsonl');
    const registry = new HostToolRegistry();
    const audit = createAuditLog({ path: file });
    audit.attach(registry);
    const session = registry.createSession({ sessionId: 's', principal: 'ann' });
    const planner = session.delegate({ agent: 'planner' });
    for (const one of [session, planner, planner.delegate({ agent: 'writer' })])
      await one.call('nothing', {});
    await audit.close();
    const { stdout } = await cli(['audit', 'report', file]);
    expect(stdout).toMatch(/Agents +calls\nplanner +1\nplanner > writer +1\n/);
    const { summary } = JSON.parse((await cli(['audit', 'report', file, '--json'])).stdout);
    expect(summary.byAgent).toEqual({ planner: 1, 'planner > writer': 1 });
  });

  test('writes one page, in which every text is escaped and nothing is asked for', async () => {
    const { exit, stdout } = await cli(['audit', 'report', path, '--html', 'out.html'], {
      cwd: folder,
    });
    expect(exit).toBe(0);
    expect(stdout).toContain('\nThe report is in out.html.\n');
    const page = readFileSync(join(folder, 'out.html'), 'utf8');
    expect(page).toContain('&#60;script&#62;');
    expect(page).not.toMatch(/<script|\ssrc=|href=|url\(|@import|https?:/);
    expect(page).not.toContain('\u202e');
    expect(page).toContain("default-src 'none'; style-src 'unsafe-inline'");
    expect(page).toContain('prefers-color-scheme:dark');
    expect(page).toContain('<svg');
  });

  test('of a broken log says so first, with exit code 1', async () => {
    const { exit, stdout } = await cli(['audit', 'report', broken, '--html', 'b.html'], {
      cwd: folder,
    });
    expect(exit).toBe(1);
    expect(stdout).toMatch(/^Broken at line 3 of 8 \(broken\.jsonl\): [^\n]+\n6 calls: /);
    expect(readFileSync(join(folder, 'b.html'), 'utf8')).toContain('role="alert">Broken at line 3');
  });

  test('names the calls that started and have no end', async () => {
    const crashed = join(folder, 'crashed.jsonl');
    const registry = new HostToolRegistry({ now: () => Date.UTC(2026, 0, 1) });
    let began = (): void => {};
    let finish = (_: number): void => {};
    const running = new Promise<void>((resolve) => {
      began = resolve;
    });
    registry.register(
      defineTool({
        name: 'slow',
        description: 'x',
        parameters: { type: 'object' },
        handler() {
          began();
          return new Promise((resolve) => {
            finish = resolve;
          });
        },
      }),
    );
    const audit = createAuditLog({ path: crashed, required: true });
    audit.attach(registry);
    const calling = registry.createSession({ sessionId: 's' }).call('slow', {}, { callId: 'c' });
    await running;
    await audit.close();
    finish(1);
    await calling;
    const { stdout } = await cli(['audit', 'report', crashed]);
    expect(stdout).toContain(
      '0 calls: none; 0 % denied.\n1 call started and has no end:\n' +
        '  2026-01-01T00:00:00.000Z slow, call c of s\n',
    );
  });
});

describe('several logs', () => {
  const at = (name: string): string => join(folder, name);
  beforeAll(async () => {
    let now = 0;
    const registry = new HostToolRegistry({
      now: () => now++,
      approvals: { secret: 'x'.repeat(32) },
      rules: [{ effect: 'ask', when: { env: 'ask' } }],
    });
    registry.register(
      defineTool({
        name: 'deploy',
        description: 'x',
        parameters: { type: 'object' },
        handler: () => 1,
      }),
    );
    const session = registry.createSession({
      sessionId: 's',
      principal: 'user:ann',
      approvalMode: 'suspend',
    });
    const inLog = async <T>(path: string, run: () => Promise<T>): Promise<T> => {
      const audit = createAuditLog({ path });
      const detach = audit.attach(registry);
      const ran = await run();
      detach();
      await audit.close();
      return ran;
    };
    const pending = await inLog(at('many-2.jsonl'), () => session.call('deploy', { env: 'ask' }));
    const token = ('approval' in pending ? pending.approval?.token : undefined) ?? '';
    await inLog(at('many.jsonl'), () => session.approvals.resume(token, 'allow_once'));
    writeFileSync(at('many-3.jsonl'), 'No log.\n');
    writeFileSync(at('many-101.jsonl'), readFileSync(at('many.jsonl')));
    writeFileSync(at('torn.jsonl'), `${readFileSync(at('many.jsonl'), 'utf8')}{"type":`);
  });

  test('are verified one by one', async () => {
    const ran = await cli(['audit', 'verify', 'many.jsonl', 'torn.jsonl', './many.jsonl'], {
      cwd: folder,
    });
    expect(ran).toMatchObject({
      exit: 1,
      stdout: expect.stringMatching(
        /^\.\/many\.jsonl: 1 line, all as written\.\ntorn\.jsonl: Broken at line 2 of 2 [^\n]+\n$/,
      ),
    });
    const { stdout } = await cli(['audit', 'verify', 'many.jsonl', 'many-2.jsonl', '--json'], {
      cwd: folder,
    });
    expect(JSON.parse(stdout)).toEqual([
      { log: 'many.jsonl', ok: true, lines: 1 },
      { log: 'many-2.jsonl', ok: true, lines: 1 },
    ]);
    const headed = await cli(['audit', 'verify', path, keyed, '--head', head]);
    expect([headed.exit, headed.stderr]).toEqual([2, expect.stringContaining('FILE alone')]);
  });

  test('make one report, in the order of their lines', async () => {
    const argv = ['audit', 'report', 'many.jsonl', 'many-2.jsonl', '--html', 'many.html'];
    const { exit, stdout, stderr } = await cli(argv, { cwd: folder });
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^many\.jsonl: 1 line, [^\n]+\nmany-2\.jsonl: 1 line, [^\n]+\n1 call: 1 succeeded;/,
    );
    expect(readFileSync(at('many.html'), 'utf8')).toContain('many.jsonl, many-2.jsonl');
    const { check, summary } = JSON.parse((await cli([...argv, '--json'], { cwd: folder })).stdout);
    expect([check, summary.calls, summary.unanswered]).toEqual([
      [
        { log: 'many.jsonl', ok: true, lines: 1 },
        { log: 'many-2.jsonl', ok: true, lines: 1 },
      ],
      1,
      0,
    ]);
  });

  test.each(['verify', 'report'])('that `audit %s` does not get are named', async (name) => {
    const { stderr } = await cli(['audit', name, 'many.jsonl'], { cwd: folder });
    expect(stderr).toBe(
      'Not read: `many-2.jsonl`, which other processes wrote. Give them as well.\n',
    );
  });
});

describe('a log of unknown origin', () => {
  const bidi = '\u202e\u2066\u200b\u2028';
  const evil = `\u001b[31m\u009b2J\u0007\r\n${bidi}</script><script>alert(1)</script><img src=x>`;
  const made = join(folder, 'made.jsonl');
  const write = (lines: readonly object[]): void => {
    const hash = lineHash('test', undefined);
    let at = { seq: 0, hash: '' };
    let text = '';
    for (const line of lines) {
      const members = { type: 'call', at: 1_700_000_000_000, ...line };
      const next = renderLine(text === '' ? { ...members, file: 1 } : members, at, hash);
      text += next.text;
      at = next.head;
    }
    writeFileSync(made, text);
  };
  const reports = async (): Promise<readonly string[]> => {
    const page = join(folder, 'made.html');
    const runs = [
      await cli(['audit', 'report', made, '--html', page]),
      await cli(['audit', 'report', made, '--json']),
    ];
    for (const { exit, stderr } of runs) expect([exit, stderr]).toEqual([0, '']);
    return [...runs.map(({ stdout }) => stdout), readFileSync(page, 'utf8')];
  };
  const everywhere = (text: string) => ({
    callId: text,
    sessionId: text,
    principal: text,
    tool: text,
    code: 'policy_denied',
    ruleId: text,
    reason: text,
    approval: { id: text, by: text, decision: 'allow_once' },
  });

  test('moves no terminal and runs nothing in a page, whatever its texts are', async () => {
    write([
      { ...everywhere(evil), status: 'rejected' },
      { status: evil, callId: 'c' },
      { type: 'start', ...everywhere(evil) },
    ]);
    for (const text of await reports()) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(text).not.toMatch(/[\0-\t\v-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]/);
      if (text.startsWith('<!doctype')) expect(text).not.toMatch(/<script|<img/i);
    }
  });

  test('has a report of a bounded size, whatever the size of its texts', async () => {
    const long = 'x'.repeat(1_000_000);
    write([
      ...Array.from({ length: 3 }, (_, at) => ({ ...everywhere(at + long), status: at + long })),
      ...Array.from({ length: 300 }, (_, at) => ({ tool: `t${at}`, status: `made up ${at}` })),
      { type: 'start', ...everywhere(long) },
    ]);
    const [text = '', json = '', page = ''] = await reports();
    expect(text.length).toBeLessThan(6_000);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(1_500);
    expect(json.length).toBeLessThan(200_000);
    expect(page.length).toBeLessThan(60_000);
    expect(text).toContain('(others)');
  });

  test('has a report even if its times are invalid', async () => {
    write([
      { at: 1e300, status: 'succeeded', tool: 't' },
      { at: -1e300, status: 'succeeded', tool: 't' },
      { at: 8.64e15, status: 'succeeded', tool: 't', durationMs: 1e300 },
      { type: 'start', at: 8.64e15 + 2, tool: 't', callId: 'c', sessionId: 's' },
    ]);
    const [text] = await reports();
    expect(text).toContain('1 call: 1 succeeded; 0 % denied.');
  });
});

describe('a log in a store', () => {
  const store = `sqlite:${join(folder, 'state.db')}`;
  const run = (...words: string[]) => cli(['audit', ...words, '--store', store]);

  beforeAll(async () => {
    await cli(['store', 'migrate', store]);
    const { sqliteStore } = await import('../../src/stores/sqlite/index.ts');
    const opened = sqliteStore({ path: join(folder, 'state.db') });
    const registry = new HostToolRegistry({ rules: [{ effect: 'deny', when: { env: 'prod' } }] });
    registry.register(
      defineTool({
        name: 'deploy',
        description: 'x',
        parameters: { type: 'object' },
        handler: () => 1,
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    for (const envs of [['dev', 'prod'], ['dev']]) {
      const audit = createAuditLog({ store: opened });
      const detach = audit.attach(registry);
      for (const env of envs) await session.call('deploy', { env });
      await audit.flush();
      detach();
    }
    await opened.close();
  });

  test('is verified, and what to keep elsewhere is printed', async () => {
    const { exit, stdout } = await run('verify');
    expect(exit).toBe(0);
    const [, one = '', two = ''] =
      /^3 lines in 2 chains, all as written\.\nchain 1 ends with line 2: (\w{64})\nchain 2 ends with line 1: (\w{64})\n$/.exec(
        stdout,
      ) ?? [];
    expect(await run('verify', '--head', one, '--head', two)).toMatchObject({ exit: 0 });
    expect(await run('verify', '--head', one, '--head', 'a'.repeat(64))).toMatchObject({
      exit: 1,
      stdout: expect.stringMatching(/^Broken: a line of `heads` is not in the log: .*3 lines in 2/),
    });
    expect(JSON.parse((await run('verify', '--json')).stdout)).toMatchObject({
      ok: true,
      heads: [{ chain: 1 }, { chain: 2, hash: two }],
    });
  });

  test('is reported, with the calls of all writers', async () => {
    expect((await run('report')).stdout).toMatch(/3 calls: .*; 33\.3 % denied/);
    expect(JSON.parse((await run('report', '--json')).stdout)).toMatchObject({
      check: { ok: true, lines: 3 },
      summary: { calls: 3 },
    });
    const html = join(folder, 'store.html');
    expect(await run('report', '--html', html)).toMatchObject({ exit: 0 });
    expect(readFileSync(html, 'utf8')).toContain('state.db');
  });

  test.each([
    [['audit', 'verify'], 2, /needs FILE or `--store URL`\./],
    [['audit', 'report', path, '--store', store], 2, /and not both/],
    [
      ['audit', 'report', '--store', store, '--html', join(folder, 'state.db')],
      2,
      /must not write to `.*state\.db`: it is the file of `--store`/,
    ],
    [['audit', 'verify', '--store', 'file:./x'], 2, /a folder has no audit log/],
    [['audit', 'verify', '--store', 'redis://:s3cret@127.0.0.1:1'], 1, /127\.0\.0\.1:1 cannot be/],
    [['audit', 'verify', '--store', `sqlite:${folder}/none.db`], 1, /there is no such file/],
  ])('%j is refused', async (words, exit, message) => {
    const ran = await cli(words);
    expect(ran).toMatchObject({ exit, stderr: expect.stringMatching(message) });
    expect(ran.stderr).not.toContain('s3cret');
  });
});
