/**
 * A server in a child process: what it inherits, how its death is told, and that nothing of it is
 * left.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type McpStdioConnection,
  stdioOpener,
} from '../../../../src/surfaces/mcp/client/open-stdio.ts';
import { brief, clock, closeAll, closing, imports, sessionOver, until } from './world.ts';

afterEach(closeAll);

const script = fileURLToPath(new URL('raw-stdio.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mcp-stdio-'));
let log = '';
let count = 0;

beforeEach(() => {
  log = join(folder, `${count++}.log`);
  clock.at = 0;
});
afterAll(() => rmSync(folder, { recursive: true }));

const server = (mode = 'plain', ...more: string[]): McpStdioConnection => ({
  command: process.execPath,
  args: [script, mode, log, ...more],
});
const lines = (): string[] => readFileSync(log, 'utf8').trim().split('\n');
/** Every process that the test has started. */
const pids = (): number[] =>
  lines().flatMap((line) => (line.startsWith('start ') ? [Number(line.slice(6))] : []));
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const allGone = (): Promise<void> => until(() => !pids().some(alive));
const said = (text: string): unknown => [{ type: 'text', text }];

describe('starting', () => {
  test('no shell reads the command or its arguments', async () => {
    const odd = ['$HOME', '; touch x', '*', 'a b', '"'];
    const session = sessionOver(await imports(server('plain', ...odd)));
    expect(brief(await session.call('act', { what: 'args' }))).toEqual(
      said(JSON.stringify([log, ...odd])),
    );
  });

  test('nothing is inherited but what a program needs; what is given is there', async () => {
    process.env.MCP_TEST_SECRET = 'hush';
    try {
      const session = sessionOver(await imports({ ...server(), env: { GIVEN: '1' } }));
      const [{ text }] = brief(await session.call('act', { what: 'env' })) as [{ text: string }];
      const names = text
        .split(' ')
        .filter((name) => !['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'].includes(name));
      expect(names.filter((name) => !name.startsWith('__CF'))).toEqual(['GIVEN']);
    } finally {
      delete process.env.MCP_TEST_SECRET;
    }
  });

  test('it runs in the given folder', async () => {
    const session = sessionOver(await imports({ ...server(), cwd: '/' }));
    expect(brief(await session.call('act', { what: 'cwd' }))).toEqual(said('/'));
  });

  test('a command that does not exist is said to be', async () => {
    await expect(imports({ command: '/nonexistent/mcp' })).rejects.toMatchObject({
      code: 'executor_lost',
      message: expect.stringContaining('ENOENT'),
    });
  });

  test('a server that ends at once is quoted, in text that does nothing', async () => {
    await expect(imports(server('broken'))).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Cannot connect to the MCP server `[^\n]+Its standard error ends with: cannot find \[31mthe database$/,
      ),
    });
    await allGone();
  });

  test('a server that never answers is given up, and ended', async () => {
    await expect(imports(server('dumb'), {}, 300)).rejects.toMatchObject({ code: 'executor_lost' });
    await allGone();
  });

  test('a server is started once, whatever its era', async () => {
    await imports(server());
    expect(pids()).toHaveLength(1);
  });

  test.each([
    ['ends', 'strict'],
    ['hangs', 'stuck'],
  ])(
    'a server that %s when it is asked for its era is started again, and not asked',
    async (_, mode) => {
      const session = sessionOver(await imports(server(mode), {}, 2_000));
      expect(pids()).toHaveLength(2);
      expect(brief(await session.call('act', {}))).toEqual(said(`pid ${pids()[1]}`));
      await session.call('act', { what: 'die' });
      clock.at = 60_000;
      expect(brief(await session.call('act', {}))).toEqual(said(`pid ${pids()[2]}`));
      expect(pids()).toHaveLength(3);
    },
  );

  test('noise on its standard output is skipped', async () => {
    expect((await imports(server('noisy'))).tools).toHaveLength(1);
  });
});

test.each([
  ['a byte order mark', '\ufeff'],
  ['a text without a line end', '\u001b[36mLoading { the } packages ...\u001b[0m '],
  ['lines', '\ufeff> server@1.0.0 start\r\n> node .\r\n\r\n[dotenv] tip: { quiet: true }\n'],
])('%s before the first message does not hide it', async (_, NOISE) => {
  const { signal } = new AbortController();
  // Without the first answer it counts as a server of the older era, after five seconds. On a busy
  // machine, it may not have started by then.
  let era: string | undefined;
  for (let attempt = 0; attempt < 5 && era !== 'modern'; attempt++) {
    const open = stdioOpener({
      command: process.execPath,
      args: [fileURLToPath(new URL('sdk-server.mjs', import.meta.url))],
      env: { NOISE },
    });
    const link = closing(await open({ handshakeMs: 60_000, signal, toolsChanged() {} }));
    era = link.client.getProtocolEra();
  }
  expect(era).toBe('modern');
});

describe('dying', () => {
  test('ends what is in flight as executor_lost; the next call starts it again', async () => {
    const session = sessionOver(await imports(server()));
    const hanging = session.call('act', { what: 'hang' });
    expect(brief(await session.call('act', { what: 'die' }))).toEqual(['executor_lost']);
    expect(brief(await hanging)).toEqual(['executor_lost']);
    clock.at = 60_000;
    expect(brief(await session.call('act', {}))).toEqual(said(`pid ${pids().at(-1)}`));
  });

  test('by SIGKILL is reported as well', async () => {
    const session = sessionOver(await imports(server()));
    const hanging = session.call('act', { what: 'hang' });
    await until(() => pids().some(alive));
    for (const pid of pids()) if (alive(pid)) process.kill(pid, 'SIGKILL');
    expect(brief(await hanging)).toEqual(['executor_lost']);
  });

  test('again and again, it is not started for every call', async () => {
    const session = sessionOver(await imports(server()));
    const codes: unknown[] = [];
    for (let turn = 0; turn < 5; turn++)
      codes.push(brief(await session.call('act', { what: 'die' })));
    expect(codes).toEqual(Array.from({ length: 5 }, () => ['executor_lost']));
    const started = pids().length;
    const result = await session.call('act', {});
    expect([result.error?.code, result.error?.message]).toEqual([
      'executor_lost',
      expect.stringMatching(/Try again in \d+ s/),
    ]);
    expect(pids()).toHaveLength(started);
  });

  test('a line of 9 MB ends the connection, not the host', async () => {
    const session = sessionOver(await imports(server()));
    expect(brief(await session.call('act', { what: 'flood', size: 9_000_000 }))).toEqual([
      'executor_lost',
    ]);
  });
});

describe('ending', () => {
  test('close leaves no process', async () => {
    const imported = await imports(server());
    await imported.close();
    await allGone();
  });

  test('a server that does not end is asked to, then killed', async () => {
    const imported = await imports(server('stubborn'));
    await imported.close();
    await allGone();
    expect(lines()).toContain('SIGTERM');
  });

  test('closing while it starts leaves none either', async () => {
    const session = sessionOver(await imports(server()));
    await session.call('act', { what: 'die' });
    clock.at = 60_000;
    const call = session.call('act', {});
    const before = pids().length;
    await until(() => pids().length > before || pids().length > 0);
    await session.close();
    expect(brief(await call)).toEqual(['session_closed']);
  });
});

test('cancelling informs the server', async () => {
  const session = sessionOver(await imports(server()));
  expect(brief(await session.call('act', { what: 'hang' }, { timeoutMs: 1_000 }))).toEqual([
    'timeout',
    'timeout',
  ]);
  await until(() => lines().includes('notifications/cancelled'));
});

test('a change that it announces withdraws the tool', async () => {
  const imported = await imports(server());
  const session = sessionOver(imported);
  await session.call('act', { what: 'change' });
  await until(() => imported.drift.length === 1);
  expect(brief(await session.call('act', {}))).toEqual([
    'tool_not_available',
    'definition_changed',
  ]);
});
