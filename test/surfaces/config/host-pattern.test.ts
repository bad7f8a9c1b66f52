/** Hosts of `network`: their forms, and what they cover. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allowsHost, canonicalHost, readHost } from '../../../src/surfaces/config/host-pattern.ts';

/** Whether an entry covers a host, as a program spells it. */
function covers(entry: string, host: string, port: number): boolean {
  const pattern = readHost(entry);
  const spelled = canonicalHost(host);
  return pattern !== undefined && spelled !== undefined && allowsHost([pattern], spelled, port);
}

describe('an entry', () => {
  test.each([
    ['example.com', 'example.com', 443, true],
    ['example.com', 'EXAMPLE.com.', 1, true],
    ['example.com', 'www.example.com', 443, false],
    ['example.com', 'example.com.evil.test', 443, false],
    ['example.com', 'notexample.com', 443, false],
    ['example.com:443', 'example.com', 443, true],
    ['example.com:443', 'example.com', 80, false],
    ['*.example.com', 'a.b.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*.example.com', 'evilexample.com', 443, false],
    ['localhost:8080', '127.0.0.1', 8080, true],
    ['127.0.0.1:8080', 'localhost', 8080, true],
    ['[::1]:8080', 'LOCALHOST', 8080, true],
    ['127.0.0.1', '0x7f.1', 80, true],
    ['127.0.0.1', '2130706433', 80, true],
    ['127.0.0.1', '127.0.0.2', 80, false],
    ['127.0.0.1', '[::ffff:127.0.0.1]', 80, false],
    ['[2001:db8::1]', '[2001:DB8:0::1]', 443, true],
    ['192.0.2.1', '192.0.2.10', 80, false],
  ])('%s and %s:%d: %s', (entry, host, port, expected) => {
    expect(covers(entry, host, port)).toBe(expected);
  });

  test.each([
    ...['', '*', '*.com', '*.', '*.127.0.0.1', '*example.com', 'a.*.com', 'https://example.com'],
    ...['example.com/', 'example.com/x', 'user@example.com', 'example.com:', 'example.com:0'],
    ...['example.com:65536', 'example.com:https', '10.0.0.0/8', '::1', '[::1', '[zz]', 'a b', ' a'],
    ...['example.com?x', 'example.com#x', 'example.com:80:80', '1.2.3.4.5', '256.1.1.1', '..'],
  ])('%j is none', (text) => {
    expect(readHost(text)).toBeUndefined();
  });

  test('covers no host that differs in its letters', () => {
    const name = fc.domain().map((one) => one.toLowerCase());
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(covers(one, other, 443)).toBe(canonicalHost(one) === canonicalHost(other));
        expect(covers(`*.${one}`, `${other}.${one}`, 443)).toBe(true);
        expect(covers(`*.${one}`, `${other}${one}`, 443)).toBe(false);
      }),
    );
  });
});
