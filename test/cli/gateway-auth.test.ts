/** A gateway that gets the tokens of a server by itself, as its file says. */
import { afterEach, describe, expect, test } from 'vitest';
import { folder } from '../surfaces/config/folder.ts';
import { authorizedServer, machineSecret, pem } from '../surfaces/mcp/authorized-server.ts';
import { opened } from '../surfaces/mcp/server/kit.ts';
import { cli } from './cli-run.ts';

const open = opened();
afterEach(() => open.close());

async function world(authFor: (issuer: string) => object) {
  const { url, issuer } = await authorizedServer(open);
  const auth = authFor(issuer);
  const { path } = folder({
    'gateway.json': { mcpServers: { orders: { url: url.href, auth } } },
  });
  return (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    cli([...words, '--host-tools', 'gateway.json'], {
      cwd: path,
      env: { XDG_STATE_HOME: path, ...env },
    });
}

const scopes = ['orders:read'];

describe('a server of a file is called', () => {
  test.each([
    [
      'with a secret',
      'batch',
      (issuer: string) => ({
        grant: 'client_credentials',
        clientId: 'batch',
        clientSecret: `\${SECRET}`,
        issuer,
        scopes,
      }),
    ],
    [
      'with a key',
      'keyed',
      (issuer: string) => ({
        grant: 'private_key_jwt',
        clientId: 'keyed',
        privateKey: `\${KEY}`,
        issuer,
        scopes,
      }),
    ],
  ])('%s', async (_what, principal, authFor) => {
    const run = await world(authFor);
    const { exit, stdout, stderr } = await run(['call', 'orders.read'], {
      SECRET: machineSecret,
      KEY: pem,
    });
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`read for ${principal}`);
  });
});

const withSecret = (issuer: string) => ({
  grant: 'client_credentials',
  clientId: 'batch',
  clientSecret: `\${SECRET}`,
  issuer,
  scopes,
});

test('a variable that is not set is named, and nothing is asked for', async () => {
  const run = await world(withSecret);
  const { stdout } = await run(['list', '--json']);
  expect(stdout).toContain('the variable `SECRET` is not set');
});

test('a secret that is refused is shown by no message', async () => {
  const run = await world(withSecret);
  const secret = 'wrong-secret-0123456789';
  const { stdout, stderr } = await run(['list', '--json'], { SECRET: secret });
  expect(stdout).toMatch(/"state": ?"(?:failed|waiting)"/);
  expect(stdout + stderr).not.toContain(secret);
});

test('a program does not log in as a person', async () => {
  const run = await world(withSecret);
  const { exit, stderr } = await run(['gateway', 'login', 'orders'], { SECRET: machineSecret });
  expect(exit).toBe(2);
  expect(stderr).toContain('by the grant `client_credentials`, so nobody logs in');
});

test.each([
  ['an unknown grant', { grant: 'password' }, 'grant'],
  ['no issuer', { grant: 'client_credentials', clientId: 'a', clientSecret: 'b' }, 'issuer'],
  [
    'a platform without its word',
    { grant: 'jwt_bearer', clientId: 'a', issuer: 'https://a.example' },
    'exactly one of `assertion`, `assertionFile`',
  ],
  [
    'a secret that any authorization server could ask for',
    { grant: 'authorization_code', clientId: 'a', clientSecret: 'b' },
    'a secret its `issuer`',
  ],
  ['a misspelt key', { grant: 'authorization_code', clientid: 'a' }, 'clientid'],
])('%s is refused where it is written', async (_what, auth, named) => {
  const run = await world(() => auth);
  const { exit, stdout, stderr } = await run(['list']);
  expect(exit).not.toBe(0);
  expect(stdout + stderr).toContain(named);
});
