/** What a profile and its limits may hold at most, and which of several parents holds. */
import { describe, expect, test } from 'vitest';
import type { Effect } from '../src/api/policy.ts';
import type { Limits, Profile } from '../src/api/profile.ts';
import { registryStateOf } from '../src/core/registry/state-of.ts';
import { checkLimits, tightestLimits } from '../src/core/rules/limits.ts';
import { checkLineage, type KnownProfile, parentsOf } from '../src/core/rules/lineage.ts';
import { type ResolvedProfile, resolveProfile } from '../src/core/rules/profile.ts';
import { HostToolRegistry } from '../src/index.ts';
import { MisuseError } from '../src/values/errors/index.ts';

/** Has all parts, which read keys of profiles. */
const registry = registryStateOf(new HostToolRegistry());

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(MisuseError);
    return (error as Error).message;
  }
  return expect.unreachable();
}

const resolved = (profile: unknown): ResolvedProfile =>
  resolveProfile(profile as Profile, () => undefined, registry);
const tool = (settings: object): Profile =>
  ({ id: 'p', tools: [{ name: 'a', ...settings }] }) as Profile;

/** A value in so many lists. */
function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

describe('a limit', () => {
  const most = Number.MAX_SAFE_INTEGER;
  test.each<[name: keyof Limits, least: number, most: number]>([
    ['callsPerMinute', 1, most],
    ['maxConcurrentCalls', 1, most],
    ['maxQueuedCalls', 0, most],
    ['queueTimeoutMs', 1, 2_147_483_647],
    ['maxPendingApprovals', 0, most],
    ['loopGuard', 1, most],
    ['maxInputBytes', 1, most],
    ['maxOutputChars', 1, most],
  ])('%s is a whole number from %d to %d', (name, least, greatest) => {
    for (const value of [least, greatest])
      expect(checkLimits({ [name]: value }, 'session')).toEqual({ [name]: value });
    for (const value of [least - 1, greatest + 1, least + 0.5])
      expect(refusal(() => checkLimits({ [name]: value }, 'session'))).toBe(
        `session: expected \`limits.${name}\` to be ` +
          `${name === 'loopGuard' ? 'false or ' : ''}a whole number from ${least}` +
          `${greatest === most ? '' : ` to ${greatest}`}, ` +
          `got \`${value}\` (number).`,
      );
  });

  test('that is not given is not inherited either', () => {
    for (const limits of [
      checkLimits({}, 'session'),
      tightestLimits({}),
      resolved({ id: 'p', tools: [] }).limits,
    ]) {
      expect(Object.getPrototypeOf(limits)).toBeNull();
      expect(limits).toSatisfy(Object.isFrozen);
    }
  });

  test('of several is the smallest, whichever comes first', () => {
    for (const values of [
      [1, 2, 2],
      [2, 1, 2],
      [2, 2, 1],
    ])
      expect(tightestLimits(...values.map((callsPerMinute) => ({ callsPerMinute })))).toEqual({
        callsPerMinute: 1,
      });
  });
});

describe('a profile may hold', () => {
  test.each<[what: string, good: () => unknown, bad: () => unknown]>([
    [
      'an id of 256 characters',
      () => ({ id: 'x'.repeat(256), tools: [] }),
      () => ({ id: 'x'.repeat(257), tools: [] }),
    ],
    [
      'a timeout as long as a timer can be',
      () => tool({ timeoutMs: 2_147_483_647 }),
      () => tool({ timeoutMs: 2_147_483_648 }),
    ],
    [
      'a timeout of less than a millisecond',
      () => tool({ timeoutMs: Number.MIN_VALUE }),
      () => tool({ timeoutMs: -Number.MIN_VALUE }),
    ],
    [
      'a budget of one character',
      () => tool({ maxOutputChars: 1 }),
      () => tool({ maxOutputChars: 0.5 }),
    ],
    [
      'a budget that is a safe number',
      () => tool({ maxOutputChars: Number.MAX_SAFE_INTEGER }),
      () => tool({ maxOutputChars: 2 ** 53 }),
    ],
    [
      '72 levels',
      () => tool({ knobs: { k: nested(68) } }),
      () => tool({ knobs: { k: nested(69) } }),
    ],
    [
      '500 000 values, itself and its parts counted',
      () => tool({ knobs: { k: Array.from({ length: 500_000 - 7 }, () => 1) } }),
      () => tool({ knobs: { k: Array.from({ length: 500_000 - 6 }, () => 1) } }),
    ],
  ])('%s, and no more', (_, good, bad) => {
    expect(resolved(good()).tools).toBeInstanceOf(Map);
    expect(refusal(() => resolved(bad()))).toMatch(/^(?:profile `p`|defineProfile): expected /);
  });

  test.each<[profile: unknown, message: string]>([
    [
      () => 1,
      'defineProfile: expected a profile to be plain data, got a value that JSON cannot hold: ' +
        'a function is not JSON.',
    ],
    [
      tool({ knobs: { f: 1n } }),
      'defineProfile: expected a profile to be plain data, got a value that JSON cannot hold at ' +
        '`/tools/0/knobs/f`: a bigint is not JSON.',
    ],
    [
      { id: 'x'.repeat(256), tool: [] },
      `profile \`${'x'.repeat(256)}\`: unknown field \`tool\`; did you mean \`tools\`?`,
    ],
    [
      { id: 'x'.repeat(257), tool: [] },
      'defineProfile: unknown field `tool`; did you mean `tools`?',
    ],
    [
      { id: 'p ', tools: [] },
      'profile `p `: expected `id` to be a non-blank string without white space at its ends, of ' +
        'at most 256 characters, got `p ` (string).',
    ],
    [
      { id: 'p', extends: '', tools: [] },
      'profile `p`: expected `extends` to be the id of a profile, got `` (string).',
    ],
    [
      { id: 'p', extends: 7, tools: [] },
      'profile `p`: expected `extends` to be the id of a profile, got `7` (number).',
    ],
    [
      { id: 'p', extends: [' '], tools: [] },
      'profile `p`: expected `extends[0]` to be the id of a profile, got ` ` (string).',
    ],
    [
      tool({ name: ' ' }),
      'profile `p`: expected `tools[0].name` to be a non-blank string, got ` ` (string).',
    ],
    [
      { id: 'p', tools: [' '] },
      'profile `p`: expected `tools[0]` to be a non-blank string, got ` ` (string).',
    ],
    [
      tool({ timeoutMs: '5' }),
      'profile `p`: expected `tools[0].timeoutMs` to be a number of milliseconds above 0 ' +
        'and at most 2147483647, got `5` (string).',
    ],
    [
      tool({ maxOutputChars: '5' }),
      'profile `p`: expected `tools[0].maxOutputChars` to be a whole number from 1, got `5` ' +
        '(string).',
    ],
  ])('and what is wrong with it is said in full: row %#', (profile, message) => {
    expect(refusal(() => resolved(profile))).toBe(message);
  });
});

describe('of several parents', () => {
  /** A profile that extends others, each of which gives what it says. */
  function heir(parents: readonly Partial<Profile>[], own: Partial<Profile> = {}): ResolvedProfile {
    const known = new Map(
      parents.map((parent, index) => [
        `p${index}`,
        resolved({ id: `p${index}`, tools: [], ...parent }),
      ]),
    );
    return resolveProfile(
      { id: 'heir', extends: [...known.keys()], tools: [], ...own },
      (id) => known.get(id),
      registry,
    );
  }

  const effects: readonly (Effect | undefined)[] = [undefined, 'allow', 'ask', 'deny'];
  test.each(effects.flatMap((one) => effects.map((other) => [one, other] as const)))(
    'the stricter default holds: of %s and %s',
    (one, other) => {
      expect(heir([{ default: one }, { default: other }]).default).toBe(
        effects[Math.max(effects.indexOf(one), effects.indexOf(other))],
      );
    },
  );

  test.each<
    [what: string, parents: (boolean | undefined)[], own: boolean | undefined, optional: boolean]
  >([
    ['in all of them', [true, true], undefined, true],
    ['in the first alone', [true, false], undefined, false],
    ['in the last alone', [false, true], undefined, false],
    ['in the last alone, of three', [true, false, true], undefined, false],
    ['by its own word, against theirs', [false, false], true, true],
    ['not by its own word, against theirs', [true, true], false, false],
  ])('a tool is optional: %s', (_, parents, own, optional) => {
    const profile = heir(
      parents.map((given) => ({ tools: [{ name: 'a', optional: given }] })),
      { tools: [{ name: 'a', optional: own }] },
    );
    expect(profile.tools.get('a')?.optional).toBe(optional);
  });

  test('any one demands an approval', () => {
    const demanding = [
      { tools: [{ name: 'a', requiresApproval: true as const }] },
      { tools: ['a'] },
    ];
    for (const parents of [demanding, [...demanding].reverse()])
      expect(heir(parents).tools.get('a')?.requiresApproval).toBe(true);
  });

  test("the last parent's settings of a tool win, and its knobs key by key", () => {
    const one = { tools: [{ name: 'a', timeoutMs: 1, maxOutputChars: 1, knobs: { x: 1, y: 1 } }] };
    const two = { tools: [{ name: 'a', timeoutMs: 2, knobs: { y: 2 } }] };
    expect(heir([one, two]).tools.get('a')).toMatchObject({
      timeoutMs: 2,
      maxOutputChars: 1,
      knobs: { x: 1, y: 2 },
    });
    expect(heir([two, one, { tools: ['a'] }]).tools.get('a')).toMatchObject({
      timeoutMs: 1,
      maxOutputChars: 1,
      knobs: { x: 1, y: 1 },
    });
  });

  test('each may be named once', () => {
    expect(refusal(() => resolved({ id: 'p', extends: ['a', 'b', 'a'], tools: [] }))).toBe(
      'profile `p`: expected `extends[2]` to be a profile that the list names once, got `a` ' +
        '(string).',
    );
  });
});

describe('a profile that is defined anew', () => {
  const known = (...profiles: Profile[]): ReadonlyMap<string, KnownProfile> =>
    new Map(
      profiles.map((given) => [
        given.id,
        { given, resolved: resolved({ id: given.id, tools: [] }) },
      ]),
    );
  const profile = (id: string, parents?: string | readonly string[]): Profile => ({
    id,
    tools: [],
    extends: parents,
  });

  test('names its parents as a list, whether it has one, several or none of its own', () => {
    expect(parentsOf(profile('a', 'b'))).toEqual(['b']);
    expect(parentsOf(profile('a', ['b', 'c']))).toEqual(['b', 'c']);
    expect(parentsOf(profile('a'))).toEqual([]);
    expect(parentsOf(Object.create({ extends: 'b' }, { id: { value: 'a' } }) as Profile)).toEqual(
      [],
    );
  });

  test('may not extend what descends from it, near or far', () => {
    const all = known(profile('a'), profile('b', 'a'), profile('c', ['x', 'b']), profile('x'));
    for (const heir of ['b', 'c', 'a'])
      expect(refusal(() => checkLineage(profile('a', ['x', heir]), all))).toBe(
        `profile \`a\`: expected \`extends\` to name no profile that extends it, got ` +
          `\`${heir}\` (string).`,
      );
    for (const parents of [undefined, 'x', ['x', 'unknown']])
      expect(() => checkLineage(profile('a', parents), all)).not.toThrow();
  });

  test(
    'is checked in a time that grows with the number of profiles, however often their lines ' +
      'meet',
    () => {
      const levels = Array.from({ length: 60 }, (_, level) => [
        profile(`l${level}`, level === 0 ? [] : [`l${level - 1}`, `r${level - 1}`]),
        profile(`r${level}`, level === 0 ? [] : [`l${level - 1}`, `r${level - 1}`]),
      ]);
      expect(() => checkLineage(profile('a', 'l59'), known(...levels.flat()))).not.toThrow();
    },
  );
});
