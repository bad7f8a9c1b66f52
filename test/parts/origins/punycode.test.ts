/** Punycode is read as RFC 3492 says and as the platform reads it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePunycode } from '../../../src/parts/origins/punycode.ts';

test.each([
  ['xn--mnchen-3ya', 'münchen'],
  ['xn--bcher-kva', 'bücher'],
  ['xn--80ak6aa92e', 'аррӏе'],
  ['xn--wgv71a119e', '日本語'],
])('%s is %s', (label, text) => {
  expect(decodePunycode(label)).toBe(text);
});

test.each(['example', 'xn--ü', 'xn--99999999999', `xn--${'a'.repeat(80)}`])(
  '%s is no punycode',
  (label) => {
    expect(decodePunycode(label)).toBeUndefined();
  },
);

test('it turns back what the platform encodes', () => {
  const letters = fc.stringMatching(/^[a-zäöüéßабвгд日本語]{1,12}$/);
  fc.assert(
    fc.property(letters, (text) => {
      const host = hostOfUrl(text);
      fc.pre(host?.startsWith('xn--') === true);
      expect(decodePunycode(host as string)).toBe(text);
    }),
  );
});

function hostOfUrl(label: string): string | undefined {
  try {
    return new URL(`http://${label}`).hostname;
  } catch {
    return undefined;
  }
}
