/** Where the requests of a login may go. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkAddress, oauthFetch } from '../../../../src/surfaces/mcp/client/fetch.ts';

const may = (server: string, address: string): boolean => {
  try {
    checkAddress(new URL(server), new URL(address));
    return true;
  } catch {
    return false;
  }
};

test.each([
  'https://login.test/token',
  'https://10.example.com/token',
  'https://172.32.0.1/token',
  'https://localhost.test/token',
  'https://a.test/other',
])('a server elsewhere may name %s', (address) => {
  expect(may('https://a.test/mcp', address)).toBe(true);
});

test.each([
  'http://login.test/token',
  'http://a.test/token',
  'http://127.0.0.1:631/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://localhost/',
  'https://localhost./',
  'https://x.localhost/',
  'https://0.0.0.0/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[fe80::1]/',
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.169.254/',
  'https://10.0.0.1/token',
  'https://192.168.1.1/token',
  'https://172.16.0.1/token',
  'https://100.64.0.1/token',
  'https://[fd00::1]/token',
  'https://[::ffff:10.0.0.1]/token',
  'https://[::ffff:192.168.0.1]/token',
  'file:///etc/passwd',
  'javascript:alert(1)',
])('a server elsewhere may not name %s', (address) => {
  expect(may('https://a.test/mcp', address)).toBe(false);
});

test.each([
  ['http://127.0.0.1:1/mcp', 'http://127.0.0.1:2/token', true],
  ['http://localhost:1/mcp', 'https://login.test/token', true],
  ['http://localhost:1/mcp', 'http://login.test/token', false],
  ['https://10.0.0.1/mcp', 'https://10.0.0.2/token', true],
  ['https://10.0.0.1/mcp', 'https://127.0.0.1/token', false],
  ['http://127.0.0.1:1/mcp', 'http://169.254.169.254/latest', false],
  ['http://127.0.0.1:1/mcp', 'https://169.254.169.254/latest', false],
  ['http://localhost:1/mcp', 'http://[::ffff:169.254.169.254]/latest', false],
  ['http://localhost:1/mcp', 'https://[fd00:ec2::254]/latest', false],
  ['http://localhost:1/mcp', 'https://metadata.google.internal/', false],
  ['http://localhost:1/mcp', 'https://10.0.0.1/token', true],
  ['https://169.254.1.1/mcp', 'https://127.0.0.1/token', false],
  ['https://169.254.1.1/mcp', 'https://10.0.0.1/token', false],
  // Its own address it has been given by the user.
  ['http://intranet/mcp', 'http://intranet/token', true],
])('of %s, %s: %s', (server, address, expected) => {
  expect(may(server, address)).toBe(expected);
});

test('the message names both', () => {
  expect(() =>
    checkAddress(new URL('https://a.test/mcp'), new URL('http://127.0.0.1:631/')),
  ).toThrow(
    'The server `https://a.test` named `http://127.0.0.1:631` for the login. Expected https, and ' +
      'an address that is not on this machine or in a private network.',
  );
});

describe('redirects', () => {
  /** A server that sends every request on, and one elsewhere that counts what arrives. */
  async function worlds(status: number) {
    const asked: string[] = [];
    const start = async (answer: RequestListener): Promise<string> => {
      const server = createServer(answer);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const elsewhere = await start((request, response) => {
      asked.push(request.url ?? '');
      response.end('{}');
    });
    const near: string[] = [];
    const origin = await start((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
      near.push(pathname);
      const to = searchParams.get('to');
      if (to === null) response.end('{}');
      else response.writeHead(status, { Location: to }).end();
    });
    const from = (to: string) => `${origin}/start?to=${encodeURIComponent(to)}`;
    return { asked, elsewhere, near, origin, from, fetch: oauthFetch(new URL(`${origin}/mcp`)) };
  }

  test.each([301, 302, 303, 307, 308])('with %i lead to no other origin', async (status) => {
    const { asked, elsewhere, from, fetch } = await worlds(status);
    const response = await fetch(from(`${elsewhere}/metadata`));
    expect([response.status, asked]).toEqual([status, []]);
  });

  test('lead on within the origin, at most five times', async () => {
    const { near, origin, from, fetch } = await worlds(307);
    expect((await fetch(from(`${origin}/end`))).status).toBe(200);
    expect(near).toEqual(['/start', '/end']);
    let to = `${origin}/end`;
    for (let hop = 0; hop < 8; hop++) to = from(to);
    near.length = 0;
    expect((await fetch(to)).status).toBe(307);
    expect(near).toHaveLength(6);
  });

  test('never take the parameters of a token request along', async () => {
    const { asked, near, elsewhere, origin, from, fetch } = await worlds(307);
    for (const to of [`${elsewhere}/token`, `${origin}/end`]) {
      const response = await fetch(from(to), {
        method: 'POST',
        body: new URLSearchParams({ code: 'the-code' }),
      });
      expect(response.ok).toBe(false);
    }
    expect([asked, near]).toEqual([[], ['/start', '/start']]);
  });
});
