/** Lists of suspended calls: they cost by their rows, and hold nothing that was not signed. */
import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import type { ApprovalRequest, JsonObject } from '../../../src/index.ts';
import { memoryStore } from '../../../src/index.ts';
import { approvalsIn } from '../../../src/parts/durable-approvals/approvals-in.ts';
import { listedOf, openHead, sealHead } from '../../../src/parts/durable-approvals/head.ts';
import { sealRecord } from '../../../src/parts/durable-approvals/record.ts';
import { headBytes, rowIn } from '../../../src/parts/durable-approvals/store.ts';
import { createTokenSigner } from '../../../src/parts/durable-approvals/token.ts';
import { fileApprovals } from '../../../src/surfaces/approvals/index.ts';
import { bench, key, otherKey, suspending, suspendOne, why } from '../../core/approval/kit.ts';
import { memoryApprovalPort } from '../../stores/shared/ports.ts';

const signer = createTokenSigner(key);
const request: ApprovalRequest = {
  id: 'approval-1',
  sessionId: 's',
  principal: 'p',
  callId: 'c',
  tool: { name: 't', source: 'host', tags: [], annotations: {}, fingerprint: 'sha256:f' },
  input: { amount: 5 },
  title: 'Pay?',
  message: 'It leaves the account.',
  source: 'tool',
  requestedAt: 1,
  expiresAt: 100,
  hiddenFields: [],
};
const long = 'x'.repeat(900_000);

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'heads-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

describe('a head', () => {
  test('has all of a short request, and says what it lacks of a long one', () => {
    expect(listedOf(request)).toEqual({ ...request, leftOut: [] });
    const { message: _, ...rest } = request;
    const { input: __, ...shortest } = rest;
    expect(listedOf({ ...request, input: { long } })).toEqual({
      ...shortest,
      message: request.message,
      leftOut: ['input'],
    });
    expect(listedOf({ ...request, message: long, input: { long } })).toEqual({
      ...shortest,
      leftOut: ['input', 'message'],
    });
    expect(listedOf({ ...request, program: { source: long, line: 1 } })).toEqual({
      ...request,
      program: { line: 1 },
      leftOut: ['program'],
    });
  });

  test('never has a token', () => {
    expect(JSON.stringify(listedOf({ ...request, token: 'secret' } as never))).not.toContain(
      'secret',
    );
  });

  test('is small and opens to what was sealed, whatever the texts are', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5_000 }),
      fc.constantFrom('"'.repeat(3_900), '\u0000'.repeat(3_900), '\ud800', '.', '\u2028é😀'),
    );
    fc.assert(
      fc.property(text, text, text, (message, value, title) => {
        const asked = { ...request, title: title.slice(0, 200), message, input: { value } };
        const head = sealHead(signer, asked, 'p', 7);
        expect(head).toBeDefined();
        const { record } = sealRecord(signer, {
          request: asked,
          principal: 'p',
          input: asked.input,
          idempotencyKey: 'k',
        });
        const stored = Buffer.from(JSON.stringify(record)).subarray(0, headBytes).toString('utf8');
        const row = rowIn(stored);
        expect(row).toMatchObject({
          id: 'approval-1',
          sessionId: 's',
          principal: 'p',
          expiresAt: 100,
        });
        const opened = openHead(signer, row?.head);
        expect(opened).toEqual({
          listed: JSON.parse(JSON.stringify(listedOf(asked))),
          principal: 'p',
          bytes: expect.any(Number),
        });
        expect(Buffer.byteLength(JSON.stringify(row?.head))).toBeLessThanOrEqual(16_000);
      }),
      { numRuns: 200 },
    );
  });

  test('that was changed, or signed by another key, does not open', () => {
    const head = sealHead(signer, request, 'p', 7) ?? '';
    expect(openHead(createTokenSigner([otherKey, key]), head)?.listed.id).toBe('approval-1');
    for (const other of [
      head.replace('"Pay?"', '"Look?"'),
      head.replace('"p"', '"q"'),
      head.slice(1),
      head.slice(0, -1),
      `${head} `,
      '',
      '.',
      'x'.repeat(20_000),
      7,
      undefined,
    ])
      expect(openHead(signer, other)).toBeUndefined();
    expect(openHead(createTokenSigner(otherKey), head)).toBeUndefined();
  });

  test('is not made where a title alone is too long', () => {
    expect(sealHead(signer, { ...request, title: long }, 'p', 7)).toBeUndefined();
  });
});

const stores: readonly (readonly [name: string, open: (now: () => number) => Store])[] = [
  ['memoryStore', (now) => memoryStore({ now })],
  ['fileApprovals', (now) => fileApprovals({ dir: folder(), now })],
];

describe.each(stores)('%s', (_, open) => {
  const setUp = (more: object = {}) => {
    const store = open(() => 0);
    const made = suspending({ registry: { approvals: { secret: key, store, ...more } } });
    return { ...made, store };
  };

  test('lists the same calls as `pending`, in the same order and pages', async () => {
    const { registry, session, store } = setUp();
    for (let amount = 0; amount < 12; amount++) {
      await suspendOne({ session }, amount % 3 === 0 ? { amount, to: long } : { amount });
    }
    const pending = await registry.approvals.pending();
    const listed = await registry.approvals.list();
    expect(listed.map(({ id }) => id)).toEqual(pending.map(({ id }) => id));
    for (const [at, row] of listed.entries()) {
      const isLong = pending[at]?.input.to !== undefined;
      expect(row.leftOut).toEqual(isLong ? ['input'] : []);
      expect(row.input).toEqual(isLong ? undefined : pending[at]?.input);
      expect(await registry.approvals.get(row.id)).toEqual(pending[at]);
      expect(Object.isFrozen(row)).toBe(true);
    }
    const first = await registry.approvals.list({ limit: 5 });
    const second = await registry.approvals.list({ limit: 50, after: first.at(-1) as never });
    expect([...first, ...second].map(({ id }) => id)).toEqual(listed.map(({ id }) => id));
    expect(await registry.approvals.list({ sessionId: 'other' })).toEqual([]);
    expect(await registry.approvals.list({ principal: 'user:ann', limit: 1_000 })).toHaveLength(12);
    await approvalsIn(store, () => 0).take(first[0]?.id ?? '', 1);
    expect(await registry.approvals.list()).toHaveLength(11);
  });

  test('refuses a call that makes what waits for one principal too long', async () => {
    const { registry, session } = setUp({ maxBytesPerPrincipal: 5_000_000 });
    const other = registry.createSession({
      sessionId: 'other',
      principal: 'user:ann',
      approvalMode: 'suspend',
    });
    await suspendOne({ session }, { amount: 1, to: long });
    const { id } = await suspendOne({ session: other }, { amount: 2, to: long });
    for (const one of [session, other]) {
      const refused = await one.call('pay', { amount: 3, to: long });
      expect(why(refused)).toEqual(['rate_limited', 'too_many_approvals']);
      expect(refused.error?.message).toBe(
        'The calls that wait for approval are too long together. Wait until they are answered.',
      );
    }
    await suspendOne({ session }, { amount: 4 });
    const bob = registry.createSession({
      sessionId: 'bob',
      principal: 'user:bob',
      approvalMode: 'suspend',
    });
    await suspendOne({ session: bob }, { amount: 5, to: long });
    await registry.approvals.answer(id, { decision: 'reject_once', by: 'user:carl' });
    await suspendOne({ session }, { amount: 6, to: long });
  });

  test('counts those that are suspended at the same moment', async () => {
    const { session } = setUp({ maxBytesPerPrincipal: 5_000_000 });
    const results = await Promise.all(
      [1, 2, 3, 4].map((amount) => session.call('pay', { amount, to: long })),
    );
    expect(results.map((result) => why(result)?.[0]).sort()).toEqual([
      'approval_pending',
      'approval_pending',
      'rate_limited',
      'rate_limited',
    ]);
  });
});

describe('what a list reads', () => {
  test('of files, it reads the beginning only', async () => {
    const dir = folder();
    const store = fileApprovals({ dir, now: () => 0 });
    const made = suspending({ store });
    for (let amount = 0; amount < 3; amount++) await suspendOne(made, { amount, to: long });
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
      if (name.includes('/')) truncateSync(join(dir, name), headBytes + 1_000);
    expect(await made.registry.approvals.list()).toHaveLength(3);
    expect(await made.registry.approvals.pending()).toEqual([]);
    expect(why(await made.session.call('pay', { amount: 4 }))?.[0]).toBe('approval_pending');
  });

  test('of a store, it asks for heads', async () => {
    const memory = memoryApprovalPort({ now: () => 0 });
    const page = vi.fn(memory.page);
    const heads = vi.fn(memory.heads);
    const { registry, session } = suspending({ store: { ...memory, page, heads } });
    await suspendOne({ session }, { amount: 1, to: long });
    expect((await registry.approvals.list())[0]?.leftOut).toEqual(['input']);
    expect([page.mock.calls.length > 0, heads.mock.calls.length > 0]).toEqual([false, true]);
  });

  test('a head in the record of another call is not listed', async () => {
    const store = memoryApprovalPort({ now: () => 0 });
    const made = suspending({ store });
    const [one, two] = [
      await suspendOne(made, { amount: 1 }),
      await suspendOne(made, { amount: 2 }),
    ];
    const rows = (await store.heads({ limit: 9 })) as readonly JsonObject[];
    const forged = rows.map((row) => ({ ...row, id: row.id === one.id ? two.id : one.id }));
    const { registry } = bench({ store: { ...store, heads: () => forged } });
    expect(await registry.approvals.list()).toEqual([]);
  });

  test('calls that wait for an approver in this process are listed in the same way', async () => {
    const { registry, session } = bench({
      session: { approver: () => new Promise(() => {}) },
    });
    void session.call('pay', { amount: 1, to: long });
    await vi.waitFor(async () => expect(await registry.approvals.list()).toHaveLength(1));
    const [listed] = await registry.approvals.list();
    expect([listed?.leftOut, listed?.input]).toEqual([['input'], undefined]);
    const whole = await registry.approvals.get(listed?.id ?? '');
    expect(whole?.input).toEqual({ amount: 1, to: long });
    await session.close();
  });
});
