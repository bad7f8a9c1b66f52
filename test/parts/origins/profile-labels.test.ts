import { describe, expect, test } from 'vitest';
import {
  mergeLabels,
  readOriginLabels,
  readRoleLabels,
} from '../../../src/parts/origins/profile-labels.ts';

const origins = (given: object) =>
  readOriginLabels(given as never, 'profile `ci`', 'tools[0].origins');

describe('labels in a profile', () => {
  test('are kept by their paths and frozen', () => {
    const labels = origins({ '*.body': 'untrusted', '*.id': 'trusted' });
    expect(labels).toEqual({ '*.body': 'untrusted', '*.id': 'trusted' });
    expect(Object.isFrozen(labels)).toBe(true);
    expect(origins(undefined as never)).toBe(undefined);
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
    const read = (given: object) => readRoleLabels(given as never, 'profile `ci`', 'roles');
    expect(read({ to: 'target', note: 'content', at: 'free' })).toEqual({
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
    const parent = origins({ a: 'trusted', b: 'trusted' });
    const child = origins({ b: 'untrusted', c: 'trusted' });
    expect(mergeLabels(parent, child)).toEqual({ a: 'trusted', b: 'untrusted', c: 'trusted' });
    expect(mergeLabels(parent, undefined)).toBe(parent);
    expect(mergeLabels(undefined, child)).toBe(child);
  });

  test('a path may have any name', () => {
    const odd = origins(JSON.parse('{"__proto__":"trusted"}') as object);
    expect(Object.keys(mergeLabels(odd, origins({ a: 'trusted' })) ?? {})).toEqual([
      '__proto__',
      'a',
    ]);
  });
});
