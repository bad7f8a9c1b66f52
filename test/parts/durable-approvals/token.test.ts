import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Key } from '../../../src/api/approval-store.ts';
import { jsonDigest } from '../../../src/core/approval/grants.ts';
import { isMisuseError, type JsonObject } from '../../../src/index.ts';
import { createTokenSigner, type TokenClaims } from '../../../src/parts/durable-approvals/token.ts';
import { key, otherKey } from '../../core/approval/kit.ts';

const claims: TokenClaims = {
  v: 1,
  id: 'i',
  sessionId: 's',
  principal: 'p',
  callId: 'c',
  tool: 't',
  fingerprint: 'f',
  source: 'host',
  input: 'd',
  record: 'r',
  expiresAt: 1,
};
const signer = createTokenSigner(key);
const token = signer.sign(claims);
const [body = '', mac = ''] = token.split('.');

describe('a token', () => {
  test('gives back the claims that were signed, expired or not', () => {
    expect(signer.verify(token)).toEqual(claims);
  });

  test('is the same for the same claims, in whatever order they were written', () => {
    const reversed = Object.fromEntries(Object.entries(claims).reverse()) as unknown as TokenClaims;
    expect(signer.sign(reversed)).toBe(token);
  });

  test('holds any text that a claim may hold', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        (sessionId, principal) => {
          const made = { ...claims, sessionId, principal };
          expect(signer.verify(signer.sign(made))).toEqual(made);
        },
      ),
    );
  });

  test('of the longest names that a host may use is still one', () => {
    const name = '\u0001'.repeat(1_024);
    const long = { ...claims, sessionId: name, principal: name, callId: name, tool: name };
    expect(signer.verify(signer.sign(long))).toEqual(long);
  });

  test('is refused after any change of a single character', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'Aa0_-.=+/ '), (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (changed !== token) expect(signer.verify(changed)).toBeUndefined();
      }),
    );
  });
});

describe('the length of a token', () => {
  test(
    'has a bound: one that is longer is refused without being looked at, even if its signature ' +
      'is right',
    () => {
      const long = signer.sign({ ...claims, tool: 't'.repeat(65_536) });
      expect(long.length).toBeGreaterThan(65_536);
      expect(signer.verify(long)).toBeUndefined();
      // A base64 text of whole groups can be filled up to the very bound.
      const length = (size: number): number =>
        signer.sign({ ...claims, tool: 't'.repeat(size) }).length;
      let size = 48_900;
      while (length(size + 1) <= 65_536) size++;
      expect(length(size)).toBe(65_536);
      expect(signer.verify(signer.sign({ ...claims, tool: 't'.repeat(size) }))).toMatchObject({
        id: 'i',
      });
      expect(signer.verify(signer.sign({ ...claims, tool: 't'.repeat(size + 1) }))).toBeUndefined();
    },
  );
});

describe('what is no genuine token is refused, and nothing is said of why', () => {
  const forgedBody = Buffer.from(JSON.stringify({ ...claims, principal: 'root' })).toString(
    'base64url',
  );
  const other = createTokenSigner(otherKey).sign(claims).split('.')[1];
  test.each<[what: string, token: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 1],
    ['an object that reads like a token', { toString: () => token, length: 10, indexOf: () => 3 }],
    ['a list that holds one', [token]],
    ['an empty text', ''],
    ['a dot', '.'],
    ['no signature', body],
    ['an empty signature', `${body}.`],
    ['an empty body', `.${mac}`],
    ['a third part', `${token}.x`],
    ['a body of other claims', `${forgedBody}.${mac}`],
    ['a signature by another key', `${body}.${other}`],
    ['half of the signature', `${body}.${mac.slice(0, 20)}`],
    ['the signature twice', `${body}.${mac}${mac}`],
    ['the signature with padding', `${body}.${mac}=`],
    [
      'the signature in the other base64',
      `${body}.${Buffer.from(mac, 'base64url').toString('base64')}!`,
    ],
    ['the signature with white space', `${body}.${mac} `],
    [
      'a signature of the body by the key, without the purpose that ours names',
      `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`,
    ],
    ['a text longer than any token', `${body.padEnd(70_000, 'A')}.${mac}`],
  ])('%s', (_, given) => {
    expect(signer.verify(given)).toBeUndefined();
  });

  test.each<[what: string, body: string]>([
    ['no JSON', 'nonsense'],
    ['a list', '[]'],
    ['null', 'null'],
    ['claims of another version', JSON.stringify({ ...claims, v: 2 })],
  ])('a genuine signature over %s', (_, text) => {
    const signed = Buffer.from(text).toString('base64url');
    const signature = createHmac('sha256', key)
      .update('host-tools.approval.v1\n')
      .update(signed)
      .digest('base64url');
    expect(signer.verify(`${signed}.${signature}`)).toBeUndefined();
  });
});

describe('keys', () => {
  test('rotate: the first signs, all verify', () => {
    const rotated = createTokenSigner([otherKey, key]);
    expect(rotated.verify(token)).toEqual(claims);
    const fresh = rotated.sign(claims);
    expect(createTokenSigner(otherKey).verify(fresh)).toEqual(claims);
    expect(signer.verify(fresh)).toBeUndefined();
  });

  test('are copied: bytes that the host wipes afterwards still verify', () => {
    const bytes = new Uint8Array(32).fill(7);
    const made = createTokenSigner(bytes);
    bytes.fill(0);
    expect(createTokenSigner(new Uint8Array(32).fill(7)).verify(made.sign(claims))).toEqual(claims);
  });

  test.each<[what: string, secret: unknown]>([
    ['nothing', undefined],
    ['an empty list', []],
    ['31 bytes', 'x'.repeat(31)],
    ['31 raw bytes', new Uint8Array(31)],
    ['a number', 1],
    ['a list whose second key is short', [key, 'short']],
  ])('%s is refused', (_, secret) => {
    expect(() => createTokenSigner(secret as Key)).toThrow(expect.toSatisfy(isMisuseError));
  });

  test('may have exactly 32 bytes, however they are given', () => {
    for (const secret of [
      'x'.repeat(32),
      '\u00e9'.repeat(16),
      new Uint8Array(32),
      [new Uint8Array(32)],
    ]) {
      const made = createTokenSigner(secret as Key);
      expect(made.verify(made.sign(claims))).toEqual(claims);
    }
  });

  test.each<[what: string, secret: unknown, message: RegExp]>([
    ['a short text', '\u00e9'.repeat(15), /at least 32 bytes, got 30 bytes\./],
    ['what is no key', 7, /at least 32 bytes, got number\./],
    ['no key at all', [], /at least one key, got none\.$/],
  ])(
    'that cannot be used are refused in words that say what was given: %s',
    (_, secret, message) => {
      expect(() => createTokenSigner(secret as Key)).toThrow(message);
    },
  );

  test('are never shown in the error that refuses them', () => {
    expect(() => createTokenSigner('hunter2-hunter2')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });
});

describe('a digest', () => {
  test('is that of the value, not of how it was written', () => {
    expect(jsonDigest({ a: 1, b: [1.0, -0] })).toBe(jsonDigest({ b: [1, 0], a: 1 }));
  });

  test.each<[what: string, one: JsonObject, other: JsonObject]>([
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['null and no member', { a: null }, {}],
    ['a composed and a decomposed letter', { a: '\u00e9' }, { a: 'e\u0301' }],
    ['two lone surrogates', { a: '\ud800' }, { a: '\ud801' }],
    ['a list and an object with indexes', { a: ['x'] }, { a: { 0: 'x' } }],
    ['a key that looks like two members', { 'a":1,"b': 2 }, { a: 1, b: 2 }],
    ['an own __proto__ and none', JSON.parse('{"__proto__":{"a":1}}'), {}],
    ['nesting', { a: { b: 1 } }, { a: 1, b: 1 }],
  ])('tells %s apart', (_, one, other) => {
    expect(jsonDigest(one)).not.toBe(jsonDigest(other));
  });
});
