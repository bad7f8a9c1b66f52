import { describe, expect, test } from 'vitest';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import { type ResolvedProfile, resolveProfile } from '../../../src/core/rules/profile.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { checkRoleLabels } from '../../../src/parts/origins/profile-labels.ts';

const state = registryStateOf(new HostToolRegistry());

/** A profile with one tool, which may extend another one. */
const profile = (keys: object, parent?: ResolvedProfile) =>
  resolveProfile(
    {
      id: parent === undefined ? 'ci' : 'child',
      tools: [{ name: 't', optional: true, ...keys }],
      ...(parent === undefined ? {} : { extends: parent.id }),
    },
    () => parent,
    state,
  );
const labelsOf = ({ tools }: ResolvedProfile) => tools.get('t')?.more;
const origins = (given: object | undefined) =>
  labelsOf(profile(given === undefined ? {} : { origins: given }))?.origins;

describe('labels in a profile', () => {
  test('are kept by their paths and frozen', () => {
    const labels = origins({ '*.body': 'untrusted', '*.id': 'trusted' });
    expect(labels).toEqual({ '*.body': 'untrusted', '*.id': 'trusted' });
    expect(Object.isFrozen(labels)).toBe(true);
    expect(origins(undefined)).toBe(undefined);
  });

  test.each<[given: object, message: string]>([
    [
      { body: 'user' },
      'tools[0].origins["body"]` to be one of `trusted`, `untrusted`, got `user` (string)',
    ],
    [{ 'a..b': 'trusted' }, 'keyed by paths of 1 to 64 names joined by dots, got `a..b` (string)'],
    [{ '': 'trusted' }, 'keyed by paths of 1 to 64 names joined by dots, got'],
    [{}, 'left out or a map of 1 to 1000 paths'],
  ])('%j is refused', (given, message) => {
    expect(() => origins(given)).toThrow(message);
  });

  test('roles have words of their own', () => {
    const read = (given: object) => checkRoleLabels(given as never, 'profile `ci`', 'roles');
    const roles = { to: 'target', note: 'content', at: 'free' };
    expect(labelsOf(profile({ roles }))?.roles).toEqual({
      to: 'target',
      note: 'content',
      at: 'free',
    });
    expect(() => read({ to: 'recipient' })).toThrow(
      'profile `ci`: expected `roles["to"]` to be one of `target`, `content`, `free`, got ' +
        '`recipient` (string)',
    );
  });

  test('a child adds to its parent path by path', () => {
    const parent = profile({ origins: { a: 'trusted', b: 'trusted' } });
    const child = { b: 'untrusted', c: 'trusted' };
    expect(labelsOf(profile({ origins: child }, parent))).toEqual({
      origins: { a: 'trusted', b: 'untrusted', c: 'trusted' },
    });
    expect(labelsOf(profile({}, parent))).toEqual(labelsOf(parent));
    expect(labelsOf(profile({ origins: child }, profile({})))).toEqual({ origins: child });
  });

  test('a path may have any name', () => {
    const odd = profile({ origins: JSON.parse('{"__proto__":"trusted"}') as object });
    const both = labelsOf(profile({ origins: { a: 'trusted' } }, odd))?.origins ?? {};
    expect(Object.keys(both)).toEqual(['__proto__', 'a']);
  });
});
