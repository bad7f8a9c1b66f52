/** `inspect`: started as a person starts it, and asked as its page asks. */
import { describe, expect, test } from 'vitest';
import { cli, tools } from './cli-run.ts';

/** Runs the command until `use` is done with the address that it prints. */
async function inspected(argv: readonly string[], use: (url: URL) => Promise<void>) {
  const interrupt = new AbortController();
  let tell: (url: string) => void = () => {};
  const listening = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const ran = cli(['inspect', '--port', '0', ...tools, ...argv], {
    signal: interrupt.signal,
    onStdout(text) {
      const [url] = /http:[^\s"]+/.exec(text) ?? [];
      if (url !== undefined) tell(url);
    },
  });
  try {
    const failed = ran.then(({ stderr }) => Promise.reject(new Error(stderr)));
    await use(new URL(await Promise.race([listening, failed])));
  } finally {
    interrupt.abort();
  }
  return ran;
}

const tokenOf = ({ hash }: URL) => ({ authorization: `Bearer ${hash.slice('#token='.length)}` });

describe('the command', () => {
  test('prints an address with a token, answers it, and stops when it is interrupted', async () => {
    const { exit, stdout } = await inspected([], async (url) => {
      expect(url.hostname).toBe('127.0.0.1');
      expect((await fetch(url)).status).toBe(200);
      const list = new URL('api/tools?profile=', url);
      expect((await fetch(list)).status).toBe(401);
      expect(await (await fetch(list, { headers: tokenOf(url) })).json()).toHaveProperty('shown');
      const run = await fetch(new URL('api/run', url), {
        method: 'POST',
        headers: tokenOf(url),
        body: '{}',
      });
      expect(run.status).toBe(403);
    });
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n$/),
    ]);
  });

  test('prints the address as JSON, and allows calls if an option says so', async () => {
    const { stdout } = await inspected(['--json', '--allow-calls'], async (url) => {
      const run = await fetch(new URL('api/run', url), {
        method: 'POST',
        headers: tokenOf(url),
        body: '{}',
      });
      expect(run.status).toBe(400);
    });
    expect(JSON.parse(stdout)).toEqual({
      url: expect.stringContaining('#token='),
      port: expect.any(Number),
    });
  });

  test('says what is wrong with a port that is taken', async () => {
    await inspected([], async ({ port }) => {
      const second = await cli(['inspect', '--port', port, ...tools]);
      expect([second.exit, second.stderr]).toEqual([
        1,
        expect.stringContaining(`Cannot listen on 127.0.0.1:${port}`),
      ]);
    });
  });
});
