/** No source fills the first places alone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fairOrder } from '../../../src/parts/discovery/rank.ts';

/** `a1` is a hit of the source `a`; the host's own hits have no source. */
const sourceOf = (hit: string) => (hit.startsWith('host') ? undefined : hit[0]);

describe('fairOrder', () => {
  test('a source has at most three of five places while others have something to show', () => {
    const hits = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'host1', 'host2', 'host3'];
    expect(fairOrder(hits, 10, sourceOf)).toEqual([
      ...['a1', 'a2', 'a3', 'host1', 'host2'],
      ...['a4', 'a5', 'a6', 'host3'],
    ]);
  });

  test('sources that act together leave one of five places to the host', () => {
    const hits = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'host1', 'host2'];
    expect(fairOrder(hits, 10, sourceOf)).toEqual([
      ...['a1', 'a2', 'a3', 'b1', 'host1'],
      ...['b2', 'b3', 'c1', 'c2', 'host2'],
    ]);
  });

  test('it has all places that no other source can fill', () => {
    expect(fairOrder(['a1', 'a2', 'a3', 'a4', 'a5', 'b1'], 10, sourceOf)).toEqual([
      ...['a1', 'a2', 'a3', 'b1', 'a4'],
      'a5',
    ]);
    expect(fairOrder(['a1', 'a2', 'a3', 'a4'], 10, sourceOf)).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  test('the host’s own tools have no limit', () => {
    const hits = ['host1', 'host2', 'host3', 'host4', 'host5', 'a1'];
    expect(fairOrder(hits, 10, sourceOf)).toEqual(hits);
  });

  const hits = fc.array(fc.constantFrom('a', 'b', 'host')).map((all) => all.map((s, i) => s + i));

  test('it loses nothing, and keeps the order within a source', () => {
    fc.assert(
      fc.property(hits, (given) => {
        const ordered = fairOrder(given, given.length, sourceOf);
        expect([...ordered].sort()).toEqual([...given].sort());
        for (const source of ['a', 'b', undefined]) {
          const ofIt = (list: readonly string[]) => list.filter((hit) => sourceOf(hit) === source);
          expect(ofIt(ordered)).toEqual(ofIt(given));
        }
      }),
    );
  });

  test('whatever sources show, a hit of the host is among five places while it has one', () => {
    fc.assert(
      fc.property(hits, (given) => {
        const ordered = fairOrder(given, given.length, sourceOf);
        for (let at = 0; at + 5 <= ordered.length; at += 5) {
          const rest = ordered.slice(at);
          if (rest.some((hit) => sourceOf(hit) === undefined))
            expect(rest.slice(0, 5).some((hit) => sourceOf(hit) === undefined)).toBe(true);
        }
      }),
    );
  });

  test('a limit takes the first of the same order', () => {
    fc.assert(
      fc.property(hits, fc.nat(20), (given, limit) => {
        expect(fairOrder(given, limit, sourceOf)).toEqual(
          fairOrder(given, given.length, sourceOf).slice(0, limit),
        );
      }),
    );
  });
});
