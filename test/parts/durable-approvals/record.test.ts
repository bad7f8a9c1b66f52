import { describe, expect, test } from 'vitest';
import type { PendingApproval } from '../../../src/api/approval.ts';
import { jsonDigest } from '../../../src/core/approval/grants.ts';
import type { JsonObject } from '../../../src/index.ts';
import { openRecord, sealRecord } from '../../../src/parts/durable-approvals/record.ts';
import { createTokenSigner, type TokenClaims } from '../../../src/parts/durable-approvals/token.ts';
import { key, otherKey } from '../../core/approval/kit.ts';

const signer = createTokenSigner(key);
const request: PendingApproval = Object.freeze({
  id: 'approval-1',
  sessionId: 's',
  principal: 'p',
  callId: 'c',
  tool: Object.freeze({
    name: 't',
    source: 'host',
    tags: [],
    annotations: {},
    fingerprint: 'sha256:f',
  }),
  input: { amount: 5 },
  title: 'Pay?',
  source: 'tool',
  requestedAt: 1,
  expiresAt: 100,
  hiddenFields: [],
});
const call = {
  request,
  principal: 'p',
  input: JSON.parse('{"amount":5,"to":"é\\ud800","list":[{"__proto__":{"a":0}}]}') as JsonObject,
  idempotencyKey: 'k',
};
const { record, token } = sealRecord(signer, call);
const stored = (): Record<string, unknown> =>
  JSON.parse(JSON.stringify(record)) as Record<string, unknown>;

describe('a record', () => {
  test('opens to what was sealed, also when it was text meanwhile', () => {
    const opened = openRecord(signer, stored());
    expect(opened?.token).toBe(token);
    expect(JSON.stringify(opened?.call.input)).toBe(JSON.stringify(call.input));
    expect(opened?.call.idempotencyKey).toBe('k');
    expect(opened?.claims).toMatchObject({
      id: 'approval-1',
      sessionId: 's',
      principal: 'p',
      callId: 'c',
      tool: 't',
      fingerprint: 'sha256:f',
      source: 'host',
      expiresAt: 100,
    });
  });

  test('keeps the scopes of the request that made the call', () => {
    const sealed = sealRecord(signer, { ...call, scopes: ['a'] }).record;
    expect(openRecord(signer, sealed)?.call.scopes).toEqual(['a']);
    expect(openRecord(signer, { ...sealed, scopes: ['a', 'b'] })).toBeUndefined();
    expect(openRecord(signer, stored())?.call.scopes).toBeUndefined();
  });

  test('opens with its members in another order, as databases give them back', () => {
    expect(
      openRecord(signer, Object.fromEntries(Object.entries(stored()).reverse())),
    ).toBeDefined();
  });

  test.each<[what: string, edit: (record: Record<string, unknown>) => unknown]>([
    ['its input edited', (one) => ({ ...one, input: { amount: 500 } })],
    [
      'a member added to its input',
      (one) => ({ ...one, input: { ...(one.input as object), extra: 1 } }),
    ],
    [
      'what was shown edited',
      (one) => ({ ...one, request: { ...(one.request as object), title: 'Nothing to see' } }),
    ],
    ['another session', (one) => ({ ...one, sessionId: 'other' })],
    ['another principal', (one) => ({ ...one, principal: 'root' })],
    ['a longer life', (one) => ({ ...one, expiresAt: 1e15 })],
    ['another id', (one) => ({ ...one, id: 'approval-2' })],
    ['another idempotency key', (one) => ({ ...one, idempotencyKey: 'other' })],
    ['a member more', (one) => ({ ...one, approved: true })],
    ['a member less', ({ idempotencyKey: _, ...rest }) => rest],
    ['no token', ({ token: _, ...rest }) => rest],
    [
      "another record's token",
      (one) => ({ ...one, token: sealRecord(signer, { ...call, input: { amount: 6 } }).token }),
    ],
    ["a token by somebody else's key", () => sealRecord(createTokenSigner(otherKey), call).record],
    ['a token that is no text', (one) => ({ ...one, token: [token] })],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => JSON.stringify(record)],
    ['a list', () => [record]],
    [
      'an input deeper than any stack',
      (one) => ({ ...one, input: JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) }),
    ],
    [
      'a getter that throws',
      (one) =>
        Object.defineProperty(one, 'input', {
          enumerable: true,
          get: () => {
            throw new Error('no');
          },
        }),
    ],
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
  ])('with %s does not open, and nothing is thrown', (_, edit) => {
    expect(openRecord(signer, edit(stored()))).toBeUndefined();
  });

  test.each<[what: string, edit: object]>([
    ['what was shown is no object', { request: [] }],
    ['its input is no object', { input: 'x' }],
    ['its idempotency key is no text', { idempotencyKey: 7 }],
    ['its principal is no text', { principal: null }],
  ])('that was signed does not open where %s', (_, edit) => {
    const open = (changed: object): unknown => {
      const { token: _token, ...body } = { ...stored(), ...changed } as JsonObject;
      const input = jsonDigest(body.input as JsonObject);
      const signed = signer.sign({
        ...(openRecord(signer, stored())?.claims as TokenClaims),
        input,
        record: jsonDigest({ ...body, input }),
      });
      return openRecord(signer, { ...body, token: signed });
    };
    expect(open({})).toBeDefined();
    expect(open(edit)).toBeUndefined();
  });

  test('does not open with another input under the same digest of all else', () => {
    const { claims } = openRecord(signer, stored()) as { claims: TokenClaims };
    const { token: _token, ...body } = stored() as JsonObject;
    const signed = signer.sign(claims);
    expect(openRecord(signer, { ...body, token: signed })).toBeDefined();
    expect(openRecord(signer, { ...body, input: { amount: 6 }, token: signed })).toBeUndefined();
    const other = { ...claims, input: jsonDigest({ amount: 6 }) };
    expect(
      openRecord(signer, { ...body, input: { amount: 6 }, token: signer.sign(other) }),
    ).toBeUndefined();
  });

  test('may be 128 deep, and no deeper', () => {
    const nested = (depth: number): JsonObject => (depth === 1 ? {} : { a: nested(depth - 1) });
    const opened = (depth: number): unknown =>
      openRecord(signer, sealRecord(signer, { ...call, input: nested(depth) }).record);
    expect(opened(127)).toBeDefined();
    expect(opened(128)).toBeUndefined();
  });

  test('may hold 200 000 values, and no more', () => {
    const countOf = (value: unknown): number =>
      1 +
      (typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, part) => sum + countOf(part), 0)
        : 0);
    const sealed = (length: number): JsonObject =>
      sealRecord(signer, { ...call, input: { list: Array.from({ length }, () => 1) } }).record;
    const others = countOf(sealed(0));
    expect(openRecord(signer, sealed(200_000 - others))).toBeDefined();
    expect(openRecord(signer, sealed(200_001 - others))).toBeUndefined();
  });

  test('that answers differently each time it is read opens to what was checked', () => {
    let reads = 0;
    const lying = Object.defineProperty(stored(), 'input', {
      enumerable: true,
      get: () => (++reads === 1 ? call.input : { amount: 500 }),
    });
    expect(openRecord(signer, lying)?.call.input).toEqual(call.input);
  });
});
