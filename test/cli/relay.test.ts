/** `relay`: started as a person starts it, and used as an application and an agent use it. */
import { describe, expect, test } from 'vitest';
import { cli, tools } from './cli-run.ts';
import { post, served } from './relay-run.ts';

describe('the command', () => {
  test('starts a relay by itself, and stops it when it is interrupted', async () => {
    let address = '';
    const { exit, stdout } = await served([], async (url) => {
      address = url;
      expect(await fetch(`${url}/readyz`).then(({ status }) => status)).toBe(200);
      expect(await post(`${url}/api/sessions`, {})).toMatchObject({ status: 201 });
    });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: `${address}\n` });
  });

  test('prints where it listens, as JSON on request', async () => {
    let address = '';
    const { stdout } = await served(['--json'], async (url) => {
      address = url;
    });
    expect(JSON.parse(stdout)).toEqual({ url: address, port: Number(new URL(address).port) });
  });

  test("gives sessions the host's tools", async () => {
    await served(tools, async (url) => {
      const { body } = await post(`${url}/api/sessions`, {});
      const { code, agentToken } = body as unknown as { code: string; agentToken: string };
      const asked = await post(
        `${url}/api/sessions/${code}/request`,
        { tool: 'greet', args: { name: 'Ann' } },
        agentToken,
      );
      expect(asked).toMatchObject({ status: 200, body: { result: { success: true } } });
      expect(JSON.stringify(asked.body)).toContain('Ann');
    });
  });

  test('requires the key in the named variable', async () => {
    const { stderr } = await served(
      ['--host-key', 'RELAY_KEY'],
      async (url) => {
        expect(await post(`${url}/api/sessions`, {})).toMatchObject({ status: 401 });
        expect(await post(`${url}/api/sessions`, {}, 'a-key-of-the-host')).toMatchObject({
          status: 201,
        });
      },
      { RELAY_KEY: 'a-key-of-the-host' },
    );
    expect(stderr).not.toContain('a-key-of-the-host');
  });

  test.each([
    ['a port that is none', ['--port', '70000'], 'whole number from 0 to 65535'],
    ['a Redis that is none', ['--redis', 'http://secret@localhost'], 'address such as `redis://'],
    [
      'a variable of Redis that is not set',
      ['--redis', 'REDIS_URL'],
      '`REDIS_URL`, which is not set',
    ],
    ['two stores', ['--store', 'sqlite:./a.db', '--redis', 'redis://:secret@a'], 'and not both'],
    [
      'a store that is none',
      ['--store', 'http://secret@localhost'],
      'the address of a store to be',
    ],
    ['a variable that is not set', ['--host-key', 'NO_SUCH_VARIABLE'], 'is not set'],
    ['a profile without a file', ['--profile', 'x'], '`--host-tools FILE`'],
  ])('%s is exit code 2', async (_, argv, said) => {
    const { exit, stdout, stderr } = await cli(['relay', ...argv]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('secret');
  });

  test('a folder keeps no sessions, which is exit code 1', async () => {
    const { exit, stderr } = await cli(['relay', '--store', 'file:./state']);
    expect([exit, stderr]).toEqual([
      1,
      expect.stringMatching(/folder file:\.\/state cannot keep the sessions of a relay/),
    ]);
  });

  test.each(['redis://:secret@127.0.0.1:1', 'REDIS_URL'])(
    'a Redis that does not answer is exit code 1: %s',
    async (redis) => {
      const env = { REDIS_URL: 'redis://:secret@127.0.0.1:1' };
      const { exit, stderr } = await cli(['relay', '--redis', redis], { env });
      expect(exit).toBe(1);
      expect(stderr).toMatch(/Cannot reach Redis: ECONNREFUSED\.\n$/);
      expect(stderr).not.toContain('secret');
    },
  );
});
