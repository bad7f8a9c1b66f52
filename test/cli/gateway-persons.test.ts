/** The login of a person, as the entry of a server says: scopes, bound tokens, and a known client. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder } from '../surfaces/config/folder.ts';
import { authorizationWorld, type Demands } from './authorization-server.ts';
import { cli } from './cli-run.ts';

const file = ['--host-tools', 'gateway.json'];
const person = { grant: 'authorization_code' };

/** A gateway with one server, whose entry says how a person logs in. */
async function world(auth: object, demands: Demands) {
  const there = await authorizationWorld(undefined, demands);
  const { path } = folder({ 'gateway.json': { mcpServers: { mail: { url: there.url, auth } } } });
  const env = { XDG_STATE_HOME: join(path, 'state') };
  const login = async () => {
    let page: Promise<unknown> | undefined;
    const ran = await cli(['gateway', 'login', 'mail', ...file], {
      cwd: path,
      env,
      onStderr: (text) => {
        const address = /Open this address to log in: (\S+)/.exec(text)?.[1];
        if (address !== undefined) page ??= fetch(address);
      },
    });
    await page;
    return ran;
  };
  const call = () => cli(['call', 'mail.tell', ...file], { cwd: path, env });
  const logins = join(path, 'state', 'host-tools', 'gateway');
  const kept = (): string => join(logins, readdirSync(logins)[0] ?? '');
  return { there, login, call, kept };
}

describe('a call that needs a scope which the login does not have', () => {
  const needy = () => world(person, { callScope: 'mail:write' });

  test('fails with what to do, and the next login asks for it and for those before', async () => {
    const { there, login, call } = await needy();
    await login();
    const refused = await call();
    expect(refused.exit).toBe(1);
    expect(refused.stdout + refused.stderr).toContain(
      'It needs scopes that its login does not have: `mail:write`. Run `npx host-tools gateway ' +
        'login mail --host-tools gateway.json`.',
    );
    expect((await login()).stderr).toContain('Calls have needed: mail:read, mail:write.');
    expect(there.logins.map(({ scope }) => scope)).toEqual(['mail:read', 'mail:read mail:write']);
    expect((await call()).stdout).toContain('told');
  });

  test('is not tried again by itself, and is not written down twice', async () => {
    const { there, login, call, kept } = await needy();
    await login();
    await call();
    const before = readFileSync(kept(), 'utf8');
    await call();
    expect(readFileSync(kept(), 'utf8')).toBe(before);
    expect(there.grants).toEqual(['authorization_code']);
  });

  test('later logins ask for it as well', async () => {
    const { there, login, call } = await needy();
    await login();
    await call();
    await login();
    await login();
    expect(there.logins.at(-1)?.scope).toBe('mail:read mail:write');
  });
});

test('scopes that a server makes up are bounded', async () => {
  const many = Array.from({ length: 500 }, (_, at) => `made-up-${at}`).join(' ');
  const { login, call, kept } = await world(person, { callScope: many });
  await login();
  const { stdout, stderr } = await call();
  expect((stdout + stderr).length).toBeLessThan(5_000);
  const { wanted } = JSON.parse(readFileSync(kept(), 'utf8')) as { wanted: string[] };
  expect(wanted).toHaveLength(64);
});

test('a login asks for the scopes of the file', async () => {
  const scopes = ['mail:read', 'mail:write'];
  const { there, login, call } = await world({ ...person, scopes }, { callScope: 'mail:write' });
  await login();
  expect(there.logins[0]?.scope).toBe('mail:read mail:write');
  expect((await call()).stdout).toContain('told');
});

test('a client is known by the address of its metadata, and registers nowhere', async () => {
  const clientMetadataUrl = 'https://app.example.com/client.json';
  const { there, login, call } = await world(
    { ...person, clientMetadataUrl },
    { metadataClients: true },
  );
  expect((await login()).exit).toBe(0);
  expect(there.logins[0]?.client).toBe(clientMetadataUrl);
  expect(there.registered()).toBe(0);
  there.expire();
  expect((await call()).stdout).toContain('told');
});

describe('tokens that are bound to a key', () => {
  const bound = { ...person, dpop: true };

  test('are used and renewed with it, also by the next process', async () => {
    const { there, login, call } = await world(bound, { binds: true });
    expect((await login()).exit).toBe(0);
    expect((await call()).stdout).toContain('told');
    there.expire();
    expect((await call()).stdout).toContain('told');
    expect(there.grants).toEqual(['authorization_code', 'refresh_token']);
  });

  test('are worth nothing without it', async () => {
    const { login, call, kept } = await world(bound, { binds: true });
    await login();
    const { dpop: _, ...login_ } = JSON.parse(readFileSync(kept(), 'utf8')) as { dpop: object };
    writeFileSync(kept(), JSON.stringify(login_));
    const { stdout, stderr } = await call();
    expect(stdout + stderr).toContain('Run `npx host-tools gateway login mail');
  });

  test('are demanded: others are not taken', async () => {
    const { login } = await world(bound, {});
    const { exit, stderr } = await login();
    expect(exit).toBe(1);
    expect(stderr).toContain('Expected a token that is bound to the key of this client');
  });

  test('are demanded also of a login that was made before', async () => {
    const { login, call, kept } = await world(bound, { binds: true });
    await login();
    const login_ = JSON.parse(readFileSync(kept(), 'utf8')) as { tokens: object };
    writeFileSync(
      kept(),
      JSON.stringify({ ...login_, tokens: { ...login_.tokens, token_type: 'Bearer' } }),
    );
    const { stdout, stderr } = await call();
    expect(stdout + stderr).toContain('It asks for a login. Run `npx host-tools gateway login');
  });
});

test.each([
  [{ clientMetadataUrl: 'http://app.example.com/client.json' }, 'an https address with a path'],
  [{ clientMetadataUrl: 'https://app.example.com' }, 'an https address with a path'],
  [{ clientMetadataUrl: 'https://a.example/c.json', clientId: 'x' }, 'exclude each other'],
  [{ dpop: 'yes' }, 'dpop'],
  [{ scopes: ['a b'] }, 'expected a scope'],
])('%j is refused where it is written', async (more, said) => {
  const { call } = await world({ ...person, ...more }, {});
  const { exit, stdout, stderr } = await call();
  expect(exit).not.toBe(0);
  expect(stdout + stderr).toContain(said);
});
