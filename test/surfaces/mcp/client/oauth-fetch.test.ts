/** Where the requests of a login may go. */
import { expect, test } from 'vitest';
import { checkAddress } from '../../../../src/surfaces/mcp/client/fetch.ts';

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
