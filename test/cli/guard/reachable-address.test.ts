/** Where names lead: the agent may own a name, and must not reach this machine by it. */
import { describe, expect, test } from 'vitest';
import { reachableAddress } from '../../../src/cli/guard/reachable-address.ts';
import { readHost } from '../../../src/surfaces/config/host-pattern.ts';

const reach = (list: readonly string[], host: string, ...addresses: readonly string[]) =>
  reachableAddress(
    list.map((text) => readHost(text) as NonNullable<ReturnType<typeof readHost>>),
    host,
    80,
    async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  ).catch(({ status, message }) => `${status} ${message}`);

describe('a name of the list', () => {
  test('leads to its address, of version 4 if it has one', async () => {
    expect(await reach(['a.test'], 'a.test', '2001:db8::1', '192.0.2.1')).toBe('192.0.2.1');
    expect(await reach(['a.test'], 'A.test.', '2001:db8::1')).toBe('2001:db8::1');
    expect(await reach(['a.test'], 'a.test', '10.0.0.1')).toBe('10.0.0.1');
  });

  test.each([
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255'],
    ...['::1', '::', 'fe80::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1'],
  ])('does not lead to %s, unless that is listed', async (address) => {
    expect(await reach(['a.test'], 'a.test', address)).toMatch(/^403 .*leads to/);
    const spelled = address.includes(':') ? `[${address}]` : address;
    expect(await reach(['a.test', `${spelled}:80`], 'a.test', address)).toBe(address);
    expect(await reach(['a.test', `${spelled}:81`], 'a.test', address)).toMatch(/^403/);
  });

  test('without an address says so', async () => {
    expect(await reach(['a.test'], 'a.test')).toMatch(/^502 .*no address/);
  });
});

test('other hosts are not looked up', async () => {
  for (const host of ['b.test', '127.0.0.1', '[::1]', '192.0.2.1', 'a.test:80', '', 'a.test/x'])
    expect(await reach(['a.test'], host, '192.0.2.1')).toMatch(/^403 .*not in `network`/);
});
