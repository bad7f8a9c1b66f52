import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApprovalAnswer } from '../../../src/api/approval.ts';
import { type GrantSubject, Grants, type Standing } from '../../../src/core/approval/grants.ts';
import { type ReadAnswer, readAnswer } from '../../../src/core/approval/request.ts';

const subject = (input = 'i', fingerprint = 'f', source = 'host'): GrantSubject => ({
  tool: 't',
  fingerprint,
  source,
  input,
});
const answer = (given: ApprovalAnswer): ReadAnswer => readAnswer(given) as ReadAnswer;

describe('a grant', () => {
  test('is kept of an answer for always, and of no other', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer('allow_once'), 0);
    grants.add('b', subject(), answer('reject_once'), 0);
    expect(grants.list(0)).toEqual([]);
    grants.add('c', subject(), answer('allow_always'), 0);
    expect(grants.list(0)).toEqual([{ id: 'c', tool: 't', effect: 'allow' }]);
  });

  test.each<[what: string, other: GrantSubject]>([
    ['another input', subject('j')],
    ['another definition', subject('i', 'g')],
    ['another source', subject('i', 'f', 'session')],
    ['parts that only read alike together', subject('i', 'f","host', '')],
  ])('for one input answers nothing for %s', (_, other) => {
    const grants = new Grants();
    grants.add('a', subject(), answer('allow_always'), 0);
    expect(grants.find(subject(), 0)?.id).toBe('a');
    expect(grants.find(other, 0)).toBeUndefined();
  });

  test('for the tool answers for every input of that definition from that source', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer({ decision: 'allow_always', grant: { match: 'tool' } }), 0);
    expect(grants.find(subject('j'), 0)?.id).toBe('a');
    expect(grants.find(subject('i', 'g'), 0)).toBeUndefined();
    expect(grants.find(subject('i', 'f', 'scope'), 0)).toBeUndefined();
  });

  test('that rejects beats one that allows', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer({ decision: 'allow_always', grant: { match: 'tool' } }), 0);
    grants.add('b', subject(), answer('reject_always'), 0);
    expect(grants.find(subject(), 0)).toMatchObject({ id: 'b', effect: 'reject' });
    expect(grants.find(subject('j'), 0)).toMatchObject({ id: 'a', effect: 'allow' });
  });

  test.each(['allow_always', 'reject_always'] as const)(
    'answers before a later one that says the same: %s',
    (decision) => {
      for (const [older, newer] of [
        ['input', 'tool'],
        ['tool', 'input'],
      ] as const) {
        const grants = new Grants();
        grants.add('a', subject(), answer({ decision, grant: { match: older } }), 0);
        grants.add('b', subject(), answer({ decision, grant: { match: newer } }), 0);
        expect(grants.find(subject(), 0)?.id).toBe('a');
      }
    },
  );

  test('that rejects beats a later one that allows', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer({ decision: 'reject_always', grant: { match: 'tool' } }), 0);
    grants.add('b', subject(), answer('allow_always'), 0);
    expect(grants.find(subject(), 0)).toMatchObject({ id: 'a', effect: 'reject' });
  });

  test('shown to the host cannot be changed by it', () => {
    const grants = new Grants();
    grants.add(
      'a',
      subject(),
      answer({ decision: 'allow_always', by: 'ann', grant: { uses: 1, expiresInMs: 5 } }),
      10,
    );
    const [shown] = grants.list(10);
    expect(shown).toEqual({
      id: 'a',
      tool: 't',
      effect: 'allow',
      by: 'ann',
      usesLeft: 1,
      expiresAt: 15,
    });
    expect(shown).toSatisfy(Object.isFrozen);
  });

  test('is shown with what it has, and no member for what it has not', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer('allow_always'), 0);
    const shown = { id: 'a', tool: 't', effect: 'allow' };
    expect(grants.find(subject(), 0)).toStrictEqual(shown);
    grants.use('a', subject());
    expect(grants.list(0)).toStrictEqual([shown]);
  });

  test('with a use left counts down, and with the last use it is gone', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer({ decision: 'allow_always', grant: { uses: 2 } }), 0);
    const first = grants.use('a', subject()) as Standing;
    expect(grants.list(0)).toMatchObject([{ usesLeft: 1 }]);
    const second = grants.use('a', subject()) as Standing;
    expect(grants.list(0)).toEqual([]);
    expect(grants.use('a', subject())).toBeUndefined();
    // Both calls were let through by it.
    expect([first, second].map((use) => grants.holds(use, 0))).toEqual([true, true]);
  });

  test(
    'that was taken back, or answered otherwise, no longer holds for the call that it let ' +
      'through',
    () => {
      const grants = new Grants();
      grants.add('a', subject(), answer('allow_always'), 0);
      const first = grants.use('a', subject()) as Standing;
      expect(grants.revoke('a')).toBe(true);
      expect(grants.holds(first, 0)).toBe(false);
      expect(grants.revoke('a')).toBe(false);
      grants.add('b', subject(), answer('allow_always'), 0);
      const second = grants.use('b', subject()) as Standing;
      grants.add('c', subject('j'), answer('reject_always'), 0);
      expect(grants.holds(second, 0)).toBe(true);
      grants.add('d', subject(), answer('reject_always'), 0);
      expect(grants.holds(second, 0)).toBe(false);
      expect(grants.list(0).map(({ id }) => id)).toEqual(['c', 'd']);
    },
  );

  test.each<[what: string, decision: 'allow_always' | 'reject_always', held: boolean]>([
    ['is overruled', 'reject_always', false],
    ['is not', 'allow_always', true],
  ])(
    'for one input %s by a later %s for the whole tool, also for the call that it let through',
    (_, decision, held) => {
      const grants = new Grants();
      grants.add('a', subject(), answer('allow_always'), 0);
      const use = grants.use('a', subject()) as Standing;
      grants.add('b', subject('j'), answer({ decision, grant: { match: 'tool' } }), 0);
      expect(grants.holds(use, 0)).toBe(held);
      // The rejection ends, and the allowance stands again.
      grants.revoke('b');
      expect(grants.holds(use, 0)).toBe(true);
    },
  );

  test('can be taken back after its last use until the call has started', () => {
    const once = answer({ decision: 'allow_always', grant: { uses: 1 } });
    const grants = new Grants();
    grants.add('a', subject(), once, 0);
    const use = grants.use('a', subject()) as Standing;
    expect(grants.revoke('a')).toBe(true);
    expect(grants.holds(use, 0)).toBe(false);
    expect(grants.revoke('a')).toBe(false);
    grants.add('b', subject(), once, 0);
    const other = grants.use('b', subject()) as Standing;
    grants.add('c', subject(), answer('reject_always'), 0);
    expect(grants.holds(other, 0)).toBe(false);
    grants.revoke('c');
    grants.add('d', subject(), once, 0);
    grants.release(grants.use('d', subject()) as Standing);
    expect(grants.revoke('d')).toBe(false);
  });

  test('that rejects is gone with its last use: no call waits on it', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer({ decision: 'reject_always', grant: { uses: 1 } }), 0);
    grants.use('a', subject());
    expect(grants.revoke('a')).toBe(false);
  });

  test('that has run out no longer holds', () => {
    const grants = new Grants();
    grants.add('a', subject(), answer({ decision: 'allow_always', grant: { expiresInMs: 10 } }), 0);
    const use = grants.use('a', subject()) as Standing;
    expect([9, 10].map((now) => grants.holds(use, now))).toEqual([true, false]);
  });

  test('is forgotten, the oldest first, before a session holds more than 1 000', () => {
    const grants = new Grants();
    for (let n = 0; n <= 1_000; n++)
      grants.add(`g${n}`, subject(String(n)), answer('allow_always'), 0);
    expect(grants.list(0)).toHaveLength(1_000);
    expect(grants.find(subject('0'), 0)).toBeUndefined();
    expect(grants.find(subject('1000'), 0)?.id).toBe('g1000');
  });
});

describe('grants behave as this model says', () => {
  interface Kept {
    readonly id: string;
    readonly effect: 'allow' | 'reject';
    readonly match: 'input' | 'tool';
    readonly fingerprint: string;
    readonly input: string;
    uses: number;
    readonly until: number;
  }
  const covers = (kept: Kept, fingerprint: string, input: string): boolean =>
    kept.fingerprint === fingerprint && (kept.match === 'tool' || kept.input === input);

  const fingerprints = fc.constantFrom('f', 'g');
  const inputs = fc.constantFrom('i', 'j');
  const steps = fc.oneof(
    fc.record({
      do: fc.constant('answer' as const),
      fingerprint: fingerprints,
      input: inputs,
      decision: fc.constantFrom('allow_always' as const, 'reject_always' as const),
      match: fc.constantFrom('input' as const, 'tool' as const),
      uses: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      expiresInMs: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    }),
    fc.record({ do: fc.constant('ask' as const), fingerprint: fingerprints, input: inputs }),
    fc.record({ do: fc.constant('revoke' as const), at: fc.nat(5) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 10 }) }),
  );

  test('whatever is answered, asked, revoked and waited for', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 60 }), (list) => {
        const grants = new Grants();
        let model: Kept[] = [];
        let now = 0;
        let made = 0;
        for (const step of list) {
          model = model.filter((kept) => kept.until > now && kept.uses > 0);
          switch (step.do) {
            case 'answer': {
              const { fingerprint, input, decision, match, uses, expiresInMs } = step;
              const id = `g${++made}`;
              const grant = {
                match,
                ...(uses === undefined ? {} : { uses }),
                ...(expiresInMs === undefined ? {} : { expiresInMs }),
              };
              grants.add(id, subject(input, fingerprint), answer({ decision, grant }), now);
              // The last word on the same question is the only one.
              model = model.filter(
                (kept) =>
                  !(
                    kept.match === match &&
                    kept.fingerprint === fingerprint &&
                    (match === 'tool' || kept.input === input)
                  ),
              );
              model.push({
                id,
                effect: decision === 'allow_always' ? 'allow' : 'reject',
                match,
                fingerprint,
                input,
                uses: uses ?? Number.POSITIVE_INFINITY,
                until: expiresInMs === undefined ? Number.POSITIVE_INFINITY : now + expiresInMs,
              });
              break;
            }
            case 'ask': {
              const fit = model.filter((kept) => covers(kept, step.fingerprint, step.input));
              const expected = fit.find((kept) => kept.effect === 'reject') ?? fit[0];
              const found = grants.find(subject(step.input, step.fingerprint), now);
              expect(found?.id).toBe(expected?.id);
              expect(found?.effect).toBe(expected?.effect);
              if (found !== undefined && expected !== undefined) {
                const use = grants.use(found.id, subject(step.input, step.fingerprint)) as Standing;
                expect(grants.holds(use, now)).toBe(true);
                // Its call starts at once.
                grants.release(use);
                expected.uses--;
              }
              break;
            }
            case 'revoke': {
              const id = model[step.at]?.id ?? 'nobody';
              expect(grants.revoke(id)).toBe(model.some((kept) => kept.id === id));
              model = model.filter((kept) => kept.id !== id);
              break;
            }
            case 'wait':
              now += step.ms;
          }
          model = model.filter((kept) => kept.until > now && kept.uses > 0);
          expect(grants.list(now).map(({ id }) => id)).toEqual(model.map(({ id }) => id));
        }
      }),
    );
  });
});
