/** The options of `relay`, on the command line and in the file of `--config`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { optionTable } from '../../src/cli/option-table.ts';
import { serveRelayTable } from '../../src/surfaces/relay/server/serve-relay.ts';
import { cli, gated, root } from './cli-run.ts';
import { post, served } from './relay-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-relay-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file of options, and gives its path. */
function fileOf(text: string, name = 'relay.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const key = 'a-key-of-the-host-with-32-letters';
const keyed = ['--host-key', 'RELAY_KEY'];
const env = { RELAY_KEY: key };

interface Made {
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
  readonly expiresAt: string;
}

/** Creates a session with headers that only a proxy or another client would send. */
function create(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Made & { error?: string } }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/api/sessions`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Made }),
        );
      },
    );
    sent.on('error', reject);
    sent.end('{}');
  });
}

describe('behind a proxy', () => {
  test('--allowed-host answers the name, and no other', async () => {
    await served(['--allowed-host', 'relay.example.com'], async (url) => {
      expect((await create(url, { host: 'relay.example.com' })).status).toBe(201);
      expect((await create(url, { host: 'other.example.com' })).status).toBe(403);
    });
  });

  test('--trust-proxy counts the clients of one proxy, and not what they say', async () => {
    await served(['--trust-proxy', '--limit', 'sessionsPerMinute=1'], async (url) => {
      const from = async (list: string) =>
        (await create(url, { 'x-forwarded-for': list, host: 'relay.example.com' })).status;
      expect(await from('203.0.113.1')).toBe(201);
      expect(await from('203.0.113.2')).toBe(201);
      // The proxy appends the address. What stands before it came from the client.
      expect(await from('198.51.100.9, 203.0.113.1')).toBe(429);
    });
  });

  test('--trust-proxy=2 takes the address that the outer of two proxies wrote', async () => {
    await served(['--trust-proxy=2', '--limit', 'sessionsPerMinute=1'], async (url) => {
      const from = async (list: string) => (await create(url, { 'x-forwarded-for': list })).status;
      expect(await from('203.0.113.1, 10.0.0.1')).toBe(201);
      expect(await from('203.0.113.2, 10.0.0.1')).toBe(201);
      expect(await from('203.0.113.1, 10.0.0.2')).toBe(429);
    });
  });

  test('--allowed-origin and --allow-origin name pages that may call', async () => {
    const argv = [
      '--allowed-origin',
      'https://one.example',
      '--allow-origin',
      'https://two.example',
    ];
    await served(argv, async (url) => {
      for (const [origin, status] of [
        ['https://one.example', 201],
        ['https://two.example', 201],
        ['https://three.example', 403],
      ] as const)
        expect((await create(url, { origin })).status).toBe(status);
    });
  });
});

describe('the other options', () => {
  test('--ttl is the life of a session in seconds', async () => {
    await served(['--ttl', '120'], async (url) => {
      const before = Date.now();
      const { body } = await create(url);
      const left = Date.parse(body.expiresAt) - before;
      expect(left).toBeGreaterThanOrEqual(119_000);
      expect(left).toBeLessThan(180_000);
    });
  });

  test('--max-ttl bounds what the host can extend', async () => {
    await served(
      [...keyed, '--max-ttl', '7200'],
      async (url) => {
        const { body } = await create(url, { authorization: `Bearer ${key}` });
        const { body: extended } = await post(
          `${url}/api/sessions/${body.code}/extend`,
          { ttlSeconds: 86_400 },
          key,
        );
        expect(Date.parse(String(extended.expiresAt)) - Date.parse(body.expiresAt)).toBe(3_600_000);
      },
      env,
    );
  });

  test('--lease ends the call of an application that never came', async () => {
    await served(['--lease', '1'], async (url) => {
      const { body } = await create(url);
      const at = `${url}/api/sessions/${body.code}`;
      const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
      const tools = { pluginType: 'custom', availableTools: [tool] };
      expect((await post(`${at}/register-tools`, tools, body.sessionToken)).status).toBe(201);
      const asked = await post(`${at}/request`, { tool: 'look', args: {} }, body.agentToken);
      expect(JSON.stringify(asked.body)).toContain('executor_lost');
    });
  });

  test('--metrics serves the counts to anyone who has the key', async () => {
    await served(
      [...keyed, '--metrics'],
      async (url) => {
        const read = (token: string) =>
          fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
        expect((await read('another')).status).toBe(403);
        const counts = await read(key);
        expect([counts.status, await counts.text()]).toEqual([
          200,
          expect.stringContaining('# HELP'),
        ]);
      },
      env,
    );
  });

  test('every log line is JSON, with its level and time', async () => {
    const { stderr } = await served([], async (url) => {
      await create(url);
    });
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const line of lines)
      expect(line).toMatchObject({
        level: expect.stringMatching(/^(info|warn|error)$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        msg: expect.any(String),
      });
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^The relay listens at http:/),
      expect.any(String),
      'The relay stops. Running calls have up to ten seconds to end',
    ]);
  });
});

describe('SIGTERM', () => {
  test('lets a running call end before the process does', async () => {
    await served([], async (url, interrupt) => {
      const { body } = await create(url);
      const at = `${url}/api/sessions/${body.code}`;
      const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
      await post(
        `${at}/register-tools`,
        { pluginType: 'custom', availableTools: [tool] },
        body.sessionToken,
      );
      const asked = post(`${at}/request`, { tool: 'look', args: {} }, body.agentToken);
      const headers = { authorization: `Bearer ${body.sessionToken}` };
      let id: string | undefined;
      while (id === undefined) {
        const polled = await fetch(`${at}/stream?mode=poll`, { headers });
        id = /"requestId":"([^"]+)"/.exec(await polled.text())?.[1];
      }
      interrupt();
      const answer = { requestId: id, result: 'seen' };
      expect((await post(`${at}/response`, answer, body.sessionToken)).status).toBe(200);
      expect(JSON.stringify((await asked).body)).toContain('seen');
    });
  });
});

describe('a file of options', () => {
  test.each([
    ['relay.yaml', 'ttlSeconds: 120\nlimits:\n  sessionsPerMinute: 1\n'],
    ['relay.json', '{ "ttlSeconds": 120, "limits": { "sessionsPerMinute": 1 } }'],
  ])('is %s', async (name, text) => {
    await served(['--config', fileOf(text, name)], async (url) => {
      const before = Date.now();
      const { body } = await create(url);
      expect(Date.parse(body.expiresAt) - before).toBeLessThan(180_000);
      expect((await create(url)).status).toBe(429);
    });
  });

  test('loses to the line, limit by limit', async () => {
    const file = fileOf(
      [
        'ttlSeconds: 120',
        'allowedHosts: [file.example]',
        'limits: { sessionsPerMinute: 1, updatesPerMinute: 1 }',
      ].join('\n'),
    );
    const line = ['--ttl', '600', '--allowed-host', 'line.example'];
    await served(['--config', file, ...line, '--limit', 'sessionsPerMinute=2'], async (url) => {
      const host = 'line.example';
      const before = Date.now();
      const { status, body } = await create(url, { host });
      expect(status).toBe(201);
      expect(Date.parse(body.expiresAt) - before).toBeGreaterThan(500_000);
      expect((await create(url, { host: 'file.example' })).status).toBe(403);
      expect((await create(url, { host })).status).toBe(201);
      expect((await create(url, { host })).status).toBe(429);
    });
  });

  test('is the one that the page shows', async () => {
    const page = readFileSync(join(root, 'docs/command-line.md'), 'utf8');
    const [, shown = ''] =
      /### A file of options\n[^`]*`--config FILE`[\s\S]*?```text\n([^`]+)```/.exec(page) ?? [];
    expect(shown).toContain('trustProxy: true');
    const argv = ['--config', fileOf(shown), '--host', '127.0.0.1', ...gated];
    await served(argv, async (url) => {
      const host = 'relay.example.com';
      const before = Date.now();
      const { body } = await create(url, { host, 'x-forwarded-for': '203.0.113.1' });
      expect(Date.parse(body.expiresAt) - before).toBeGreaterThan(7_000_000);
    });
  });

  test('may name the profile of its sessions', async () => {
    const file = fileOf('session:\n  profile: reader\n  exposeErrors: message\n');
    await served(['--config', file, ...gated], async (url) => {
      expect((await create(url)).status).toBe(201);
    });
  });

  test('may have every option of `serveRelay` but those that are code', async () => {
    for (const option of Object.keys(serveRelayTable)) {
      const { stderr } = await cli(['relay', '--config', fileOf(`${option}: { wrong: 1 }`)]);
      const isCode = ['store', 'authorization', 'clientAddress', 'now', 'logger'].includes(option);
      expect(stderr).toContain(isCode ? `\`${option}\` is code` : `\`${option}`);
      expect(stderr).not.toContain(`unknown option \`${option}\``);
    }
  });

  test.each([
    ['ttlSecond: 5', 2, ':1: unknown option `ttlSecond`; did you mean `ttlSeconds`?'],
    [
      'port: 1\nlimits:\n  requestPerMinute: 5',
      2,
      ':3: unknown option `limits.requestPerMinute`; did you mean `requestsPerMinute`?',
    ],
    [
      'limits: { requestsPerMinute: 0 }',
      2,
      ':1: expected `limits.requestsPerMinute` to be a whole number from 1, got `0` (number).',
    ],
    ['limits: 5', 2, ':1: expected `limits` to be an object, got `5` (number).'],
    [
      'port: 70000',
      2,
      ':1: expected `port` to be a whole number from 0 to 65535, got `70000` (number).',
    ],
    [
      'trustProxy: yes-please',
      2,
      ':1: expected `trustProxy` to be true, false, or a whole number from 1 to 16, got ' +
        '`yes-please` (string).',
    ],
    ['store: memory', 2, ':1: `store` is code, so a file cannot have it. Give `--store URL`.'],
    ['session: { rules: [] }', 2, ':1: a file cannot have `session.rules`.'],
    ['session: { profil: x }', 2, ':1: unknown option `session.profil`; did you mean `profile`?'],
    ['hostKey: short', 2, 'expected `hostKey` to be 16 to 200 visible ASCII characters'],
    ['metrics: true', 2, '`metrics` needs `--host-key VARIABLE`'],
    [
      '',
      2,
      ':1: expected an object with options of `serveRelay`, such as `ttlSeconds: 3600`, got null.',
    ],
    ['- port', 2, ':1: expected an object'],
    ['a: [', 1, 'relay.yaml:'],
  ])('%j is refused', async (text, code, said) => {
    const { exit, stdout, stderr } = await cli(['relay', '--config', fileOf(text)]);
    expect({ exit, stdout }).toEqual({ exit: code, stdout: '' });
    expect(stderr).toContain(said);
  });

  test('that does not exist is exit code 1', async () => {
    const { exit, stderr } = await cli(['relay', '--config', 'no-such.yaml']);
    expect(exit).toBe(1);
    expect(stderr).toContain('Cannot read `no-such.yaml`: there is no such file.');
  });
});

describe('what is wrong on the line', () => {
  test.each([
    [['--ttl', '0'], 'Expected `--ttl` to be a whole number from 1 to 2000000, got `0`.'],
    [['--max-ttl', '0'], 'Expected `--max-ttl` to be a whole number from 1 to 2000000, got `0`.'],
    [
      ['--ttl', '600', '--max-ttl', '60'],
      'Expected the longest life of a session (`--max-ttl`) to be at least the usual one ' +
        '(`--ttl`), got 60 and 600 seconds.',
    ],
    [['--lease', '1s'], 'Expected `--lease` to be a whole number from 1 to 2147483647, got `1s`.'],
    [['--request-timeout', '-1'], 'Expected `--request-timeout` to be a whole number from 1'],
    [['--max-connections', '0'], 'Expected `--max-connections` to be a whole number from 1'],
    [['--trust-proxy=17'], 'Expected `--trust-proxy` to be a whole number from 1 to 16, got `17`.'],
    [
      ['--trust-proxy', '2'],
      '`relay` takes no words, but also got `2`: give the number with `--trust-proxy=2`.',
    ],
    [
      ['--trust-proxy='],
      '`--trust-proxy=` has no value. Give `--trust-proxy=N`, or leave `=` out.',
    ],
    [
      ['--limit', 'requestPerMinute=5'],
      '`--limit`: unknown limit `requestPerMinute`; did you mean `requestsPerMinute`?',
    ],
    [
      ['--limit', 'zzz=5'],
      'expected one of `toolsPerSession`, `resultBytesPerSession`, `updatesPerMinute`',
    ],
    [
      ['--limit', 'requestsPerMinute'],
      'Expected `--limit requestsPerMinute=N` with a whole number from 1, got ' +
        '`requestsPerMinute`. For example, `--limit requestsPerMinute=120`.',
    ],
    [['--limit', 'requestsPerMinute=1e3'], 'got `requestsPerMinute=1e3`'],
    [
      ['--limit', 'readsPerMinute=1', '--limit', 'readsPerMinute=2'],
      '`--limit readsPerMinute` was given twice.',
    ],
    [['--limit', '__proto__=1'], 'unknown limit `__proto__`'],
    [
      ['--allowed-host', 'https://relay.example.com/'],
      'got `https://relay.example.com/`. Leave the scheme and the path out.',
    ],
    [
      ['--allowed-origin', 'nonsense'],
      'Expected `--allowed-origin` to be an origin such as `https://app.example.com`, got ' +
        '`nonsense`.',
    ],
    [['--allow-origin', 'nonsense'], 'got `nonsense`'],
    [['--metrics'], '`--metrics` needs `--host-key VARIABLE`'],
    [['--config'], '`--config` needs a value'],
  ])('%j', async (argv, said) => {
    const { exit, stdout, stderr } = await cli(['relay', ...argv]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(said);
  });

  test('the help says what `--config` and `--metrics` mean here', async () => {
    const { stdout } = await cli(['help', 'relay']);
    expect(stdout).toMatch(/--config FILE +take options of `serveRelay`/);
    expect(stdout).toMatch(/--metrics +also serve counts .* with the key/);
    expect((await cli(['help', 'validate'])).stdout).toContain(optionTable.config.help);
  });
});
