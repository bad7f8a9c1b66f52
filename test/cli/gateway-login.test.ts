/** `gateway login`, at a real authorization server, and what the gateway does with the tokens. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { folder } from '../surfaces/config/folder.ts';
import { authorizationWorld } from './authorization-server.ts';
import { cli } from './cli-run.ts';

const file = ['--host-tools', 'gateway.json'];

/** A gateway with one server that asks for a login, and a state folder of its own. */
async function world(only?: Parameters<typeof authorizationWorld>[0]) {
  const there = await authorizationWorld(only);
  const { path, at } = folder({ 'gateway.json': { mcpServers: { mail: { url: there.url } } } });
  const env = { XDG_STATE_HOME: join(path, 'state') };
  /** Logs in. `browse` gets the address, as a browser would. */
  const login = (
    browse: (address: string) => Promise<unknown> = (address) => fetch(address),
    words: readonly string[] = [],
    more: Readonly<Record<string, string>> = {},
  ) => {
    let opened = false;
    const pages: Promise<unknown>[] = [];
    return cli(['gateway', 'login', 'mail', ...file, ...words], {
      cwd: path,
      env: { ...env, ...more },
      onStderr: (text) => {
        const address = /Open this address to log in: (\S+)/.exec(text)?.[1];
        if (opened || address === undefined) return;
        opened = true;
        pages.push(browse(address));
      },
    });
  };
  const list = async () => {
    const ran = await cli(['list', ...file, '--json'], { cwd: path, env });
    const { servers } = JSON.parse(ran.stdout) as {
      servers: { state: string; error?: string }[];
    };
    return { ...servers[0], stderr: ran.stderr };
  };
  const call = () => cli(['call', 'mail.tell', ...file], { cwd: path, env });
  const logins = at('state/host-tools/gateway');
  return { there, login, list, call, logins, path, env };
}

/** Sends text to a port of this machine, and reads the answer. */
const raw = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });

test('a server that asks for a login is shown with what to do', async () => {
  const { list, there } = await world();
  const { state, error } = await list();
  expect(state).toBe('waiting');
  expect(error).toContain(
    'It asks for a login. Run `npx host-tools gateway login mail --host-tools gateway.json`.',
  );
  // Only a person who wants to log in registers a client.
  expect(there.registered()).toBe(0);
});

test('after a login it is used, and the tokens are in a file of their owner only', async () => {
  const { login, list, call, there, logins } = await world();
  const ran = await login();
  expect(ran.stderr).not.toContain('Cannot');
  expect(ran).toMatchObject({ exit: 0, stdout: expect.stringContaining('Logged in to `mail`') });
  expect(await list()).toMatchObject({ state: 'ready' });
  expect((await call()).stdout).toContain('told');
  expect(there.grants).toEqual(['authorization_code']);
  const [name = '', ...others] = readdirSync(logins);
  expect(others).toEqual([]);
  expect(name).toMatch(/^login-[0-9a-f]{40}\.json$/);
  expect(statSync(join(logins, name)).mode & 0o777).toBe(0o600);
  expect(statSync(logins).mode & 0o777).toBe(0o700);
  const [token = ''] = there.tokens;
  expect(readFileSync(join(logins, name), 'utf8')).toContain(token);
  expect(ran.stdout + ran.stderr).not.toContain(token);
});

test('a token that has expired is renewed once, and the new one is kept', async () => {
  const { login, list, there } = await world();
  await login();
  there.expire();
  expect(await list()).toMatchObject({ state: 'ready' });
  expect(there.grants).toEqual(['authorization_code', 'refresh_token']);
  expect(await list()).toMatchObject({ state: 'ready' });
  expect(there.grants).toHaveLength(2);
});

test('a login that was revoked is asked for again', async () => {
  const { login, list, there } = await world();
  await login();
  there.revoke();
  expect((await list()).error).toContain(
    'Run `npx host-tools gateway login mail --host-tools gateway.json`.',
  );
  expect(await login()).toMatchObject({ exit: 0 });
  expect(await list()).toMatchObject({ state: 'ready' });
});

describe('the address that the browser comes back to', () => {
  test('takes no code of another login', async () => {
    const { login } = await world();
    const forged: number[] = [];
    const { exit } = await login(async (address) => {
      const back = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'stolen');
      back.searchParams.set('state', 'x'.repeat(43));
      forged.push((await fetch(back)).status);
      return fetch(address);
    });
    expect([forged, exit]).toEqual([[400], 0]);
  });

  test('ends the command if the login is refused, and keeps the login before', async () => {
    const { login, list } = await world();
    await login();
    const { exit, stderr } = await login(async (address) => {
      const { searchParams } = new URL(address);
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('error', 'access_denied\u001b[2J');
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return fetch(back);
    });
    expect(exit).toBe(1);
    expect(stderr).toContain('Cannot log in to `mail`: it was refused: access_denied[2J');
    expect(await list()).toMatchObject({ state: 'ready' });
  });

  test('answers what is no address', async () => {
    const { login } = await world();
    const answers: string[] = [];
    const { exit } = await login(async (address) => {
      const back = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
      answers.push(await raw(Number(back.port), 'GET // HTTP/1.1\r\nHost: x\r\n\r\n'));
      return fetch(address);
    });
    expect([answers.map((text) => text.slice(0, 12)), exit]).toEqual([['HTTP/1.1 404'], 0]);
  });

  test('is on the loopback, with a proof key', async () => {
    const { login } = await world();
    let asked = '';
    await login((address) => {
      asked = address;
      return fetch(address);
    });
    const { searchParams } = new URL(asked);
    expect(searchParams.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('state')).toMatch(/^[\w-]{43}$/);
  });
});

test.each([
  ['a server that there is not', 'mial', 2, 'Did you mean `mail`?'],
  ['a server that is started by a command', 'local', 2, 'so it needs no login'],
  ['a server that is not there', 'away', 1, 'Cannot log in to `away`: '],
])('%s', async (_, name, exit, said) => {
  const { path } = folder({
    'gateway.json': {
      mcpServers: {
        mail: { url: 'http://127.0.0.1:9/mcp' },
        away: { url: 'http://127.0.0.1:9/mcp' },
        local: { command: 'x' },
      },
    },
  });
  const ran = await cli(['gateway', 'login', name, ...file], { cwd: path });
  expect(ran.exit).toBe(exit);
  expect(ran.stderr).toContain(said);
});

test('without a home there is no place for a login', async () => {
  const { path, list } = await world();
  const env = { HOME: '' };
  const ran = await cli(['gateway', 'login', 'mail', ...file], { cwd: path, env });
  expect(ran.exit).toBe(1);
  expect(ran.stderr).toContain('Expected `HOME` to be an absolute path, got "".');
  const listed = await cli(['list', ...file], { cwd: path, env });
  expect(listed.stdout + listed.stderr).toContain('Expected `HOME` to be an absolute path');
  expect((await list()).state).toBe('waiting');
});

describe('a server that does not let clients register', () => {
  const own = async (words: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const made = await world({ id: 'gw', secret: 's3cret-of-gw' });
    const said = words.map((word) => (word === 'ISSUER' ? new URL(made.there.url).origin : word));
    return { ...made, ran: await made.login(undefined, said, more) };
  };

  test('takes the client that the user has registered', async () => {
    const words = ['--client-id', 'gw', '--client-secret', 'SECRET', '--issuer', 'ISSUER'];
    const { ran, list, there } = await own(words, { SECRET: 's3cret-of-gw' });
    expect(ran.stderr).not.toContain('Cannot');
    expect(ran.exit).toBe(0);
    there.expire();
    expect(await list()).toMatchObject({ state: 'ready' });
    expect(there.grants).toEqual(['authorization_code', 'refresh_token']);
    expect(there.registered()).toBe(0);
  });

  test('gets the redirect address that was registered with it', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const { ran } = await own(['--client-id', 'gw', '--port', String(port)]);
    expect(ran.stderr).toContain(`Cannot listen on 127.0.0.1:${port}: `);
  });

  test.each<[string, readonly string[], number, string]>([
    ['none', [], 1, 'does not support dynamic client registration'],
    [
      'a secret alone',
      ['--client-secret', 'SECRET'],
      2,
      '`--client-secret` needs the client that it belongs to',
    ],
    [
      'a secret that is not set',
      ['--client-id', 'gw', '--client-secret', 'OTHER', '--issuer', 'ISSUER'],
      2,
      'The environment variable `OTHER` of `--client-secret` is not set.',
    ],
    [
      'a wrong secret',
      ['--client-id', 'gw', '--client-secret', 'SECRET', '--issuer', 'ISSUER'],
      1,
      'Cannot log in',
    ],
    [
      'a secret for any authorization server',
      ['--client-id', 'gw', '--client-secret', 'SECRET'],
      2,
      '`--client-secret` needs `--issuer URL`',
    ],
    [
      'a secret for another authorization server than the one that the server names',
      ['--client-id', 'gw', '--client-secret', 'SECRET', '--issuer', 'https://login.example.com'],
      1,
      'Cannot log in',
    ],
    ['an issuer alone', ['--issuer', 'ISSUER'], 2, '`--issuer` needs the client'],
  ])('with %s it is told', async (_, words, exit, said) => {
    const { ran, logins } = await own(words, { SECRET: 'wrong-secret' });
    expect(ran.exit).toBe(exit);
    expect(ran.stderr).toContain(said);
    expect(ran.stdout + ran.stderr).not.toContain('wrong-secret');
    expect(existsSync(logins)).toBe(false);
  });
});

describe('a server that turns hostile after the login', () => {
  test('cannot have other addresses asked', async () => {
    const { login, list, there } = await world();
    await login();
    const asked: string[] = [];
    const other = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    there.misleads(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    there.expire();
    expect(await list()).toMatchObject({ state: 'ready' });
    expect(asked).toEqual([]);
  });

  test('has no client registered, and nothing of the login printed', async () => {
    const { login, list, there, logins } = await world();
    await login();
    const [name = ''] = readdirSync(logins);
    const { refresh_token: token } = (
      JSON.parse(readFileSync(join(logins, name), 'utf8')) as { tokens: { refresh_token: string } }
    ).tokens;
    const warned: unknown[] = [];
    vi.spyOn(console, 'warn').mockImplementation((...said) => void warned.push(...said));
    onTestFinished(() => void vi.restoreAllMocks());
    for (const error of ['invalid_client', 'invalid_grant', 'server_error', 'no\u009b31m']) {
      there.fails((sent) => ({ error, error_description: `${sent}`.repeat(100) }));
      there.expire();
      const { error: told = '', stderr } = await list();
      expect(told).toContain('Its login could not be renewed');
      expect(told).toContain('Run `npx host-tools gateway login mail --host-tools gateway.json`.');
      const said = told + stderr + warned.join('');
      expect(said).not.toContain(token);
      expect(said.length).toBeLessThan(10_000);
    }
    expect(there.registered()).toBe(1);
  });
});
