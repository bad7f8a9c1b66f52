import { describe, expect, test } from 'vitest';
import type { Limits, Profile } from '../../../src/api/profile.ts';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import { checkLimits, tightestLimits } from '../../../src/core/rules/limits.ts';
import { type ResolvedProfile, resolveProfile } from '../../../src/core/rules/profile.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { type MisuseCode, MisuseError } from '../../../src/values/errors/index.ts';

/** Has all parts, which read keys of profiles. */
const registry = registryStateOf(new HostToolRegistry());

/** Resolves profiles in order and returns the last. */
function resolve(...profiles: Profile[]): ResolvedProfile {
  const known = new Map<string, ResolvedProfile>();
  let last: ResolvedProfile | undefined;
  for (const profile of profiles) {
    last = resolveProfile(profile, (id) => known.get(id), registry);
    known.set(last.id, last);
  }
  return last!;
}

function thrownBy(run: () => unknown): MisuseError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(MisuseError);
    return error as MisuseError;
  }
  return expect.unreachable();
}

describe('checkLimits', () => {
  test('returns a frozen copy of what is given', () => {
    const given = {
      callsPerMinute: 60,
      maxConcurrentCalls: undefined,
      maxQueuedCalls: 0,
      queueTimeoutMs: 1,
      maxPendingApprovals: 0,
      loopGuard: false as const,
      maxInputBytes: 1,
      maxOutputChars: 1,
    };
    const limits = checkLimits(given, 'session');
    expect(limits).toEqual({
      callsPerMinute: 60,
      maxQueuedCalls: 0,
      queueTimeoutMs: 1,
      maxPendingApprovals: 0,
      loopGuard: false,
      maxInputBytes: 1,
      maxOutputChars: 1,
    });
    expect(limits).not.toBe(given);
    expect(Object.isFrozen(limits)).toBe(true);
  });

  test.each<[limits: unknown, message: RegExp]>([
    [null, /^session: expected `limits` to be an object, got null/],
    [[], /got an array/],
    [7, /got `7`/],
    [
      { callsPerHour: 1 },
      /^session: unknown option `limits.callsPerHour`; expected one of `callsPerMinute`/,
    ],
    [
      { callsPerMinute: 0 },
      /`limits.callsPerMinute` to be a whole number from 1, got `0` \(number\)/,
    ],
    [{ callsPerMinute: -5 }, /got `-5`/],
    [{ callsPerMinute: 1.5 }, /got `1.5`/],
    [{ callsPerMinute: '60' }, /got `60` \(string\)/],
    [{ callsPerMinute: Number.NaN }, /got `NaN`/],
    [{ callsPerMinute: Number.POSITIVE_INFINITY }, /got `Infinity`/],
    [{ callsPerMinute: null }, /got null/],
    [{ callsPerMinute: false }, /got `false`/],
    [{ maxConcurrentCalls: 0 }, /maxConcurrentCalls/],
    [{ maxQueuedCalls: -1 }, /maxQueuedCalls/],
    [{ queueTimeoutMs: 2 ** 31 }, /queueTimeoutMs/],
    [{ maxPendingApprovals: -1 }, /maxPendingApprovals/],
    [{ loopGuard: 0 }, /`limits.loopGuard` to be false or a whole number/],
    [{ loopGuard: true }, /loopGuard/],
    [{ maxInputBytes: 0 }, /maxInputBytes/],
    [{ maxOutputChars: 0 }, /maxOutputChars/],
  ])('refuses %j', (limits, message) => {
    const error = thrownBy(() => checkLimits(limits as Limits, 'session'));
    expect(error.code).toBe('invalid_option');
    expect(error.message).toMatch(message);
  });
});

test('the tightest of several limits holds, and loopGuard: false has no opinion', () => {
  expect(
    tightestLimits(
      { callsPerMinute: 60, loopGuard: false },
      undefined,
      { callsPerMinute: 30, loopGuard: 5, maxQueuedCalls: 0 },
      { maxQueuedCalls: 10, loopGuard: false },
    ),
  ).toEqual({
    callsPerMinute: 30,
    loopGuard: 5,
    maxQueuedCalls: 0,
  });
  expect(tightestLimits({ loopGuard: false })).toEqual({});
  expect(tightestLimits()).toEqual({});
});

describe('resolveProfile', () => {
  test('keeps the order of its tools and fills in what is absent', () => {
    const profile = resolve({
      id: 'p',
      tools: [
        'b',
        {
          name: 'a',
          optional: true,
          knobs: { k: 1 },
          timeoutMs: 0.5,
          maxOutputChars: 10,
          requiresApproval: true,
        },
      ],
    });
    expect([...profile.tools.values()]).toEqual([
      {
        name: 'b',
        optional: false,
        knobs: undefined,
        timeoutMs: undefined,
        maxOutputChars: undefined,
        requiresApproval: false,
      },
      {
        name: 'a',
        optional: true,
        knobs: { k: 1 },
        timeoutMs: 0.5,
        maxOutputChars: 10,
        requiresApproval: true,
      },
    ]);
    expect(profile).toMatchObject({ id: 'p', rules: [], limits: {}, default: undefined });
  });

  test('`tools: []` is a profile without tools', () => {
    expect(resolve({ id: 'none', tools: [] }).tools.size).toBe(0);
  });

  test('parents come first, in order; a tool that is named again keeps its place', () => {
    const profile = resolve(
      { id: 'one', tools: ['a', 'b'] },
      { id: 'two', tools: ['c', 'a'] },
      { id: 'child', extends: ['two', 'one'], tools: ['d', 'b'] },
    );
    expect([...profile.tools.keys()]).toEqual(['c', 'a', 'b', 'd']);
  });

  test("a child's knobs override its parent's, key by key", () => {
    const profile = resolve(
      {
        id: 'base',
        tools: [{ name: 'git', knobs: { allowPush: false, prefix: 'x/', deep: { a: 1 } } }],
      },
      { id: 'middle', extends: 'base', tools: ['git'] },
      {
        id: 'child',
        extends: 'middle',
        tools: [{ name: 'git', knobs: { allowPush: true, deep: { b: 2 } } }],
      },
    );
    expect(profile.tools.get('git')?.knobs).toEqual({
      allowPush: true,
      prefix: 'x/',
      deep: { b: 2 },
    });
  });

  test(
    'what a child gives for a tool stands over its parent, what it does not give stays, and a ' +
      'demanded approval stays demanded',
    () => {
      const base: Profile = {
        id: 'base',
        tools: [
          { name: 'git', optional: true, timeoutMs: 10, maxOutputChars: 5, requiresApproval: true },
        ],
      };
      const same = {
        name: 'git',
        optional: true,
        timeoutMs: 10,
        maxOutputChars: 5,
        requiresApproval: true,
      };
      expect(
        resolve(base, { id: 'c', extends: 'base', tools: ['git'] }).tools.get('git'),
      ).toMatchObject(same);
      const lifted = {
        name: 'git',
        optional: false,
        timeoutMs: 99,
        requiresApproval: false,
      } as unknown as Profile['tools'][number];
      expect(
        resolve(base, { id: 'c', extends: 'base', tools: [lifted] }).tools.get('git'),
      ).toMatchObject({ ...same, optional: false, timeoutMs: 99 });
    },
  );

  test('a tool is optional through two parents only when it is optional in both', () => {
    const optional: Profile = { id: 'one', tools: [{ name: 'a', optional: true }] };
    expect(
      resolve(
        optional,
        { id: 'two', tools: ['a'] },
        { id: 'c', extends: ['one', 'two'], tools: [] },
      ).tools.get('a')?.optional,
    ).toBe(false);
    expect(
      resolve(
        optional,
        { id: 'two', tools: [{ name: 'a', optional: true }] },
        { id: 'c', extends: ['one', 'two'], tools: [] },
      ).tools.get('a')?.optional,
    ).toBe(true);
  });

  test(
    'rules add up, parents first, each with the layer of the profile that wrote it; one that ' +
      'arrives twice counts once',
    () => {
      const profile = resolve(
        { id: 'root', tools: [], rules: [{ effect: 'deny', tools: 'rm' }] },
        { id: 'left', extends: 'root', tools: [], rules: [{ id: 'ask-left', effect: 'ask' }] },
        { id: 'right', extends: 'root', tools: [] },
        { id: 'child', extends: ['left', 'right'], tools: [], rules: [{ effect: 'allow' }] },
      );
      expect(profile.rules.map(({ id, layer }) => [id, layer])).toEqual([
        ['profile:root#0', 'profile:root'],
        ['ask-left', 'profile:left'],
        ['profile:child#0', 'profile:child'],
      ]);
    },
  );

  test("limits: a child's own override the tightest of its parents'", () => {
    const profile = resolve(
      { id: 'one', tools: [], limits: { callsPerMinute: 60, maxOutputChars: 100, loopGuard: 3 } },
      { id: 'two', tools: [], limits: { callsPerMinute: 30, maxQueuedCalls: 5 } },
      {
        id: 'child',
        extends: ['one', 'two'],
        tools: [],
        limits: { maxOutputChars: 500, loopGuard: false },
      },
    );
    expect(profile.limits).toEqual({
      callsPerMinute: 30,
      maxQueuedCalls: 5,
      maxOutputChars: 500,
      loopGuard: false,
    });
  });

  test("default: a child's own, else the strictest of its parents'", () => {
    const parents: Profile[] = [
      { id: 'one', tools: [], default: 'ask' },
      { id: 'two', tools: [], default: 'deny' },
      { id: 'three', tools: [] },
    ];
    expect(
      resolve(...parents, { id: 'c', extends: ['one', 'two', 'three'], tools: [] }).default,
    ).toBe('deny');
    expect(resolve(...parents, { id: 'c', extends: ['three', 'one'], tools: [] }).default).toBe(
      'ask',
    );
    expect(
      resolve(...parents, { id: 'c', extends: 'two', tools: [], default: 'allow' }).default,
    ).toBe('allow');
  });

  test('later changes by the host have no effect, and the result is frozen', () => {
    const knobs = { list: ['a'] };
    const limits = { callsPerMinute: 1 };
    const tools = [{ name: 'git', knobs }];
    const profile = resolve({ id: 'p', tools, limits });
    knobs.list.push('b');
    limits.callsPerMinute = 2;
    tools[0]!.name = 'other';
    expect(profile.tools.get('git')?.knobs).toEqual({ list: ['a'] });
    expect(profile.limits).toEqual({ callsPerMinute: 1 });
    for (const part of [
      profile,
      profile.rules,
      profile.limits,
      profile.tools.get('git'),
      profile.tools.get('git')?.knobs,
      profile.tools.get('git')?.knobs?.list,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test('a parent is not changed by its child', () => {
    const known = new Map<string, ResolvedProfile>();
    const base = resolveProfile(
      { id: 'base', tools: [{ name: 'git', knobs: { a: 1 } }] },
      () => undefined,
      registry,
    );
    known.set('base', base);
    resolveProfile(
      { id: 'child', extends: 'base', tools: [{ name: 'git', knobs: { a: 2 } }, 'more'] },
      (id) => known.get(id),
      registry,
    );
    expect([...base.tools.keys()]).toEqual(['git']);
    expect(base.tools.get('git')?.knobs).toEqual({ a: 1 });
  });

  test('names and knobs of any spelling are plain data', () => {
    const profile = resolve(
      JSON.parse(
        '{"id":"p","tools":["constructor",{"name":"toString","knobs":{"__proto__":{"polluted":true}}}]}',
      ) as Profile,
      {
        id: 'c',
        extends: 'p',
        tools: [{ name: 'toString', knobs: { a: 1 } }],
      },
    );
    expect([...profile.tools.keys()]).toEqual(['constructor', 'toString']);
    expect(Object.keys(profile.tools.get('toString')?.knobs ?? {})).toEqual(['__proto__', 'a']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('explicit undefined is the same as absent', () => {
    const profile: Profile = {
      id: 'p',
      extends: undefined,
      tools: [{ name: 'a', optional: undefined, knobs: undefined, timeoutMs: undefined }],
      rules: undefined,
      limits: undefined,
      default: undefined,
    };
    expect(resolve(profile).tools.get('a')).toMatchObject({ optional: false, knobs: undefined });
  });

  test.each<[rule: string, profile: unknown, code: MisuseCode, message: RegExp]>([
    ['no object', 'p', 'invalid_option', /got `p` \(string\)/],
    ['no id', { tools: [] }, 'invalid_option', /`id`.*got undefined/],
    ['a blank id', { id: ' ', tools: [] }, 'invalid_option', /`id`/],
    [
      'an unknown key',
      { id: 'p', tools: [], tool: [] },
      'invalid_option',
      /^profile `p`: unknown field `tool`; did you mean `tools`\?$/,
    ],
    [
      'no tools',
      { id: 'p' },
      'invalid_option',
      /profile `p`: expected `tools` to be a list.*got undefined/,
    ],
    ['tools as a map', { id: 'p', tools: { git: {} } }, 'invalid_option', /`tools`/],
    ['a tool that is no name', { id: 'p', tools: [7] }, 'invalid_option', /`tools\[0\]`.*got `7`/],
    ['a blank tool', { id: 'p', tools: [''] }, 'invalid_option', /`tools\[0\]`/],
    [
      'a tool without a name',
      { id: 'p', tools: [{ knobs: {} }] },
      'invalid_option',
      /`tools\[0\].name`/,
    ],
    [
      'a tool twice in one list',
      { id: 'p', tools: ['a', 'b', { name: 'a' }] },
      'invalid_option',
      /`tools\[2\]`.*once.*got `a`/,
    ],
    [
      'an unknown key of a tool',
      { id: 'p', tools: [{ name: 'a', timeout: 1 }] },
      'invalid_option',
      /^profile `p`: unknown field `tools\[0\]\.timeout`; did you mean `timeoutMs`\?$/,
    ],
    [
      'optional that is no boolean',
      { id: 'p', tools: [{ name: 'a', optional: 'yes' }] },
      'invalid_option',
      /`tools\[0\].optional`/,
    ],
    [
      'knobs that are no object',
      { id: 'p', tools: [{ name: 'a', knobs: [] }] },
      'invalid_option',
      /`tools\[0\].knobs`/,
    ],
    [
      'knobs that JSON cannot hold',
      { id: 'p', tools: [{ name: 'a', knobs: { f: () => 1 } }] },
      'invalid_option',
      /`\/tools\/0\/knobs\/f`/,
    ],
    [
      'approval as text',
      { id: 'p', tools: [{ name: 'a', requiresApproval: 'yes' }] },
      'invalid_option',
      /`tools\[0\].requiresApproval`/,
    ],
    [
      'a timeout of 0',
      { id: 'p', tools: [{ name: 'a', timeoutMs: 0 }] },
      'invalid_option',
      /`tools\[0\].timeoutMs`.*got `0`/,
    ],
    [
      'a timeout beyond a timer',
      { id: 'p', tools: [{ name: 'a', timeoutMs: 2 ** 31 }] },
      'invalid_option',
      /`tools\[0\].timeoutMs`/,
    ],
    [
      'a budget of 0',
      { id: 'p', tools: [{ name: 'a', maxOutputChars: 0 }] },
      'invalid_option',
      /`tools\[0\].maxOutputChars`/,
    ],
    [
      'another default',
      { id: 'p', tools: [], default: 'block' },
      'invalid_option',
      /`default`.*got `block`/,
    ],
    [
      'a bad limit',
      { id: 'p', tools: [], limits: { callsPerMinute: 0 } },
      'invalid_option',
      /profile `p`: expected `limits.callsPerMinute`/,
    ],
    [
      'limits: null',
      { id: 'p', tools: [], limits: null },
      'invalid_option',
      /profile `p`: expected `limits` to be an object/,
    ],
    [
      'a bad rule',
      { id: 'p', tools: [], rules: [{ effect: 'deny', tools: [] }] },
      'invalid_rule',
      /profile:p rule 0: Expected `tools`/,
    ],
    [
      'rules that are no list',
      { id: 'p', tools: [], rules: {} },
      'invalid_rule',
      /profile:p rules/,
    ],
    [
      'an unknown parent',
      { id: 'p', extends: 'nope', tools: [] },
      'unknown_profile',
      /profile `p`.*got `nope`/,
    ],
    [
      'an unknown parent in a list',
      { id: 'p', extends: ['nope'], tools: [] },
      'unknown_profile',
      /`nope`/,
    ],
    [
      'itself as its parent',
      { id: 'p', extends: 'p', tools: [] },
      'invalid_option',
      /`extends`.*another profile/,
    ],
    [
      'itself among its parents',
      { id: 'p', extends: ['p'], tools: [] },
      'invalid_option',
      /`extends\[0\]`/,
    ],
    [
      'a parent that is no name',
      { id: 'p', extends: [7], tools: [] },
      'invalid_option',
      /`extends\[0\]`/,
    ],
  ])('refuses %s', (_, profile, code, message) => {
    const error = thrownBy(() => resolve(profile as Profile));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  test('refuses a parent that is named twice', () => {
    const error = thrownBy(() =>
      resolve({ id: 'a', tools: [] }, { id: 'p', extends: ['a', 'a'], tools: [] }),
    );
    expect(error.message).toMatch(/`extends\[1\]` to be a profile that the list names once/);
  });
});
