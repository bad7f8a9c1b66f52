/**
 * Approvals across a restart: one process suspends and exits, others resume. The processes share a
 * key and a folder, and nothing else.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenSigner, type TokenClaims } from '../../../src/parts/durable-approvals/token.ts';
import { program } from '../../runner/programs.ts';
import type { Done, Job } from './fixtures/host-process.ts';
import { key, otherKey } from './kit.ts';

const script = program('test/core/approval/fixtures/host-process.ts');
const execute = promisify(execFile);
const slow = 60_000;

let home: string;
const at = (place: string): Pick<Job, 'folder' | 'log' | 'secret'> => ({
  folder: join(home, place),
  log: join(home, `${place}.log`),
  secret: key,
});

/** Starts a host process, and waits until it has exited. */
async function hostProcess(jobs: readonly Job[]): Promise<Done[]> {
  const { stdout } = await execute(process.execPath, [script, JSON.stringify(jobs)], {
    timeout: slow,
  });
  return JSON.parse(stdout) as Done[];
}

/** The runs of one place, over all processes. */
async function runs(place: string): Promise<{ input: unknown; idempotencyKey: string }[]> {
  const text = await readFile(join(home, `${place}.log`), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { input: unknown; idempotencyKey: string });
}

type Stored = Record<string, unknown> & { id: string; request: Record<string, unknown> };

/** The file of the one record of a place. */
async function fileOf(place: string): Promise<string> {
  const names = await readdir(join(home, place), { recursive: true });
  return join(home, place, names.find((name) => name.includes('-')) as string);
}

/** Edits the one record of a place, as somebody with access to the folder could. */
async function edit(place: string, change: (record: Stored) => unknown): Promise<void> {
  const path = await fileOf(place);
  const [header, text = ''] = (await readFile(path, 'utf8')).split('\n');
  await writeFile(path, `${header}\n${JSON.stringify(change(JSON.parse(text) as Stored))}`);
}

/** Each place is a store with one suspended call. */
const places = [
  'once',
  'twice',
  'race',
  'put-back',
  'rejected',
  'always',
  'session',
  'principal',
  'schema',
  'gone-fact',
  'rule',
  'input-edited',
  'swapped',
  'swapped-with',
  'token-swapped',
  'life-longer',
  'deleted',
  'forged',
  'other-key',
  'rotated',
  'dropped-key',
  'expired',
  'edited-answer',
  'edited-invalid',
  'edited-denied',
  'nonsense',
] as const;
type Place = (typeof places)[number];
const tokens = new Map<Place, string>();
const tokenOf = (place: Place): string => tokens.get(place) as string;

/**
 * Every way to resume that must fail, what it must say, and what is done to the store before it.
 */
const refusals: readonly {
  readonly place: Place;
  readonly what: string;
  readonly job?: Partial<Job>;
  readonly before?: () => Promise<void>;
  readonly code: string;
  readonly reason?: string /** Is the call still there for the right one? */;
  readonly stays: boolean;
}[] = [
  {
    place: 'session',
    what: 'a foreign session',
    job: { sessionId: 'other' },
    code: 'approval_denied',
    reason: 'token_foreign',
    stays: true,
  },
  {
    place: 'principal',
    what: 'a foreign principal',
    job: { principal: 'user:bob' },
    code: 'approval_denied',
    reason: 'token_foreign',
    stays: true,
  },
  {
    place: 'schema',
    what: 'a changed definition',
    job: { description: 'Pays any amount to anybody.' },
    code: 'approval_denied',
    reason: 'definition_changed',
    stays: true,
  },
  {
    place: 'gone-fact',
    what: 'a fact that holds no more',
    job: { facts: { till: 'shut' } },
    code: 'tool_not_available',
    reason: 'fact_unmet',
    stays: false,
  },
  {
    place: 'rule',
    what: 'a tightened rule',
    job: {
      rules: [{ id: 'cap', effect: 'deny', tools: 'pay', when: { amount: 5 }, reason: 'too_much' }],
    },
    code: 'policy_denied',
    reason: 'too_much',
    stays: false,
  },
  {
    place: 'input-edited',
    what: 'a store whose input was edited',
    before: () => edit('input-edited', (record) => ({ ...record, input: { amount: 500 } })),
    code: 'approval_denied',
    reason: 'token_invalid',
    stays: false,
  },
  {
    place: 'swapped',
    what: 'a store in which another genuine record took the place',
    before: async () => {
      const other = await readFile(await fileOf('swapped-with'), 'utf8');
      await edit('swapped', () => JSON.parse(other.split('\n')[1] as string));
    },
    code: 'approval_denied',
    reason: 'token_invalid',
    stays: false,
  },
  {
    place: 'token-swapped',
    what: "a store whose record carries another call's token",
    before: () =>
      edit('token-swapped', (record) => ({ ...record, token: tokenOf('swapped-with') })),
    code: 'approval_denied',
    reason: 'token_invalid',
    stays: false,
  },
  {
    place: 'life-longer',
    what: 'a store that prolonged the record',
    job: { ahead: 3_600_001 },
    before: () =>
      edit('life-longer', (record) => ({
        ...record,
        expiresAt: 1e15,
        request: { ...record.request, expiresAt: 1e15 },
      })),
    code: 'approval_timeout',
    reason: 'expired',
    stays: false,
  },
  {
    place: 'deleted',
    what: 'a genuine token whose record is gone',
    before: () => rm(join(home, 'deleted'), { recursive: true }),
    code: 'approval_denied',
    reason: 'token_used',
    stays: false,
  },
  {
    place: 'other-key',
    what: 'a process with another key',
    job: { secret: otherKey },
    code: 'approval_denied',
    reason: 'token_invalid',
    stays: false,
  },
  {
    place: 'dropped-key',
    what: 'a process that has dropped the key',
    job: { secret: [otherKey, otherKey.toUpperCase()] },
    code: 'approval_denied',
    reason: 'token_invalid',
    stays: false,
  },
  {
    place: 'expired',
    what: 'an expired token',
    job: { ahead: 3_600_001 },
    code: 'approval_timeout',
    reason: 'expired',
    stays: false,
  },
  {
    place: 'rejected',
    what: 'a person who says no',
    job: { answer: 'reject_once' },
    code: 'approval_denied',
    reason: 'rejected',
    stays: false,
  },
  {
    place: 'nonsense',
    what: 'an answer that is none',
    job: { answer: 'yes' as never },
    code: 'approval_denied',
    reason: 'rejected',
    stays: false,
  },
  {
    place: 'edited-invalid',
    what: 'an edit that the schema refuses',
    job: { answer: { decision: 'allow_once', input: { amount: 'all' } } },
    code: 'invalid_input',
    stays: false,
  },
  {
    place: 'edited-denied',
    what: 'an edit that a rule denies',
    job: {
      answer: { decision: 'allow_once', input: { amount: 50 } },
      rules: [{ effect: 'deny', tools: 'pay', when: { amount: 50 }, reason: 'too_much' }],
    },
    code: 'policy_denied',
    reason: 'too_much',
    stays: false,
  },
];
const refused = new Map<Place, Done>();
let suspended: readonly Done[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'restart-'));
  suspended = await hostProcess(
    places.map((place) => ({
      ...at(place),
      suspend: { amount: 5, pin: 'canary-8d1f' },
      callId: `call-${place}`,
    })),
  );
  for (const [index, place] of places.entries())
    tokens.set(place, suspended[index]?.token as string);
  for (const { before } of refusals) await before?.();
  const done = await hostProcess(
    refusals.map(({ place, job }) => ({ ...at(place), token: tokenOf(place), ...job })),
  );
  for (const [index, { place }] of refusals.entries()) {
    refused.set(place, done[index] as Done);
    expect(await runs(place), place).toEqual([]);
  }
}, slow);
afterAll(() => rm(home, { recursive: true, force: true }));

describe('a process that suspends a call and exits', () => {
  test('leaves a pending result, a token, one listed approval, and no run', async () => {
    for (const { result, token, pending } of suspended) {
      expect(result).toMatchObject({
        success: false,
        error: { code: 'approval_pending' },
        metadata: { attempt: 1, status: 'pending' },
      });
      expect(token).toMatch(/^[\w-]+\.[\w-]+$/);
      expect(pending).toBe(1);
    }
  });
});

describe('another process with the same key and store', () => {
  test(
    'runs exactly what was shown, once; a second resume, in a third process, is refused',
    async () => {
      const [first] = await hostProcess([{ ...at('once'), token: tokenOf('once') }]);
      expect(first?.result).toMatchObject({
        success: true,
        output: 'paid',
        metadata: { callId: 'call-once', attempt: 2 },
      });
      const [second] = await hostProcess([{ ...at('once'), token: tokenOf('once') }]);
      expect(second?.result).toMatchObject({
        success: false,
        error: { code: 'approval_denied', reason: 'token_used' },
      });
      expect((await runs('once')).map(({ input }) => input)).toEqual([
        { amount: 5, pin: 'canary-8d1f' },
      ]);
    },
    slow,
  );

  test(
    'and yet another that races with it: one of the two runs it',
    async () => {
      const job = { ...at('race'), token: tokenOf('race') };
      const both = await Promise.all([hostProcess([job]), hostProcess([job])]);
      const results = both.map(([done]) => done?.result);
      expect(results.filter((result) => result?.success)).toHaveLength(1);
      expect(results.find((result) => result?.success === false)?.error).toMatchObject({
        code: 'approval_denied',
        reason: 'token_used',
      });
      expect(await runs('race')).toHaveLength(1);
    },
    slow,
  );

  test(
    'is refused where somebody put the answered record back, and lists it no more',
    async () => {
      const path = await fileOf('put-back');
      const record = await readFile(path, 'utf8');
      const job = { ...at('put-back'), token: tokenOf('put-back') };
      const [first] = await hostProcess([job]);
      expect(first?.result.success).toBe(true);
      await writeFile(path, record);
      const [second] = await hostProcess([job]);
      expect(second).toMatchObject({
        result: { success: false, error: { code: 'approval_denied', reason: 'token_used' } },
        pending: 0,
      });
      expect(await runs('put-back')).toHaveLength(1);
    },
    slow,
  );

  test(
    'keeps the idempotency key; answers in turn what a resumed session grants; takes edits; ' +
      'rotates keys',
    async () => {
      const [, again, edited, rotated, , always] = await hostProcess([
        { ...at('twice'), token: tokenOf('twice') },
        { ...at('twice'), token: tokenOf('twice') },
        {
          ...at('edited-answer'),
          token: tokenOf('edited-answer'),
          answer: { decision: 'allow_once', input: { amount: 1 } },
        },
        { ...at('rotated'), secret: [otherKey, key], token: tokenOf('rotated') },
        { ...at('always'), token: tokenOf('always'), answer: 'allow_always' },
        // A grant belongs to the session object that it was given in: this one asks again.
        { ...at('always'), suspend: { amount: 5, pin: 'canary-8d1f' } },
      ]);
      expect(again?.result.error?.reason).toBe('token_used');
      expect(await runs('twice')).toEqual([
        {
          input: { amount: 5, pin: 'canary-8d1f' },
          idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
      ]);
      expect(edited?.result.success).toBe(true);
      expect((await runs('edited-answer'))[0]?.input).toEqual({ amount: 1 });
      expect(rotated?.result.success).toBe(true);
      expect(always?.result.error?.code).toBe('approval_pending');
    },
    slow,
  );
});

// That nothing ran is checked where it was refused: a test below resumes rightfully what the wrong
// ones have left.
describe('a resume is refused', () => {
  test.each(refusals)('for $what: $code $reason', ({ place, code, reason }) => {
    const { result } = refused.get(place) as Done;
    expect(result.success).toBe(false);
    expect([result.error?.code, result.error?.reason]).toEqual([code, reason]);
  });

  test(
    'for a forged token: unsigned, signed by another key, or genuine claims of another call',
    async () => {
      const [body = '', mac = ''] = tokenOf('forged').split('.');
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as TokenClaims;
      const forged = [
        `${body}.`,
        `${body}.${mac.slice(0, -2)}AA`,
        createTokenSigner(otherKey).sign(claims),
        `${Buffer.from(JSON.stringify({ ...claims, principal: 'root' })).toString('base64url')}.${mac}`,
        'x',
      ];
      const done = await hostProcess(forged.map((token) => ({ ...at('forged'), token })));
      for (const { result, pending } of done) {
        expect([result.error?.code, result.error?.reason]).toEqual([
          'approval_denied',
          'token_invalid',
        ]);
        expect(pending).toBe(1);
      }
      expect(await runs('forged')).toEqual([]);
    },
    slow,
  );

  test(
    'without being used up, where the token was not theirs to use',
    async () => {
      const kept = refusals.filter(({ stays }) => stays);
      const done = await hostProcess(
        kept.map(({ place }) => ({ ...at(place), token: tokenOf(place) })),
      );
      expect(done.map(({ result }) => result.success)).toEqual(kept.map(() => true));
    },
    slow,
  );
});
