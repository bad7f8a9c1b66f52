import { describe, expect, test } from 'vitest';
import { FairQueue } from '../../../src/values/limits/fair-queue.ts';

const drain = (queue: FairQueue<string>): string[] => {
  const left: string[] = [];
  for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) left.push(entry);
  return left;
};

describe('a fair queue', () => {
  test('gives owners one turn each, and each its entries in their order', () => {
    const queue = new FairQueue<string>();
    const [a, b, c] = [{}, {}, {}];
    for (const [entry, owner] of [
      ['a1', a],
      ['a2', a],
      ['a3', a],
      ['b1', b],
      ['c1', c],
      ['b2', b],
    ] as const)
      queue.add(entry, owner);
    expect(queue.size).toBe(6);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect([queue.size, queue.shift()]).toEqual([0, undefined]);
  });

  test('an owner that comes back after its last entry queues behind the others', () => {
    const queue = new FairQueue<string>();
    const [a, b] = [{}, {}];
    queue.add('a1', a);
    queue.add('b1', b);
    queue.add('b2', b);
    expect(queue.shift()).toBe('a1');
    queue.add('a2', a);
    expect(drain(queue)).toEqual(['b1', 'a2', 'b2']);
  });

  test.each([
    ['first', 0, ['2', '3']],
    ['middle', 1, ['1', '3']],
    ['last', 2, ['1', '2']],
  ] as const)(
    'the %s entry of an owner can leave, once, and holds on to none of its neighbours',
    (_which, index, left) => {
      const queue = new FairQueue<string>();
      const owner = {};
      const places = ['1', '2', '3'].map((entry) => queue.add(entry, owner));
      const place = places[index];
      if (place === undefined) throw new Error('No such place.');
      queue.remove(place);
      queue.remove(place);
      expect([place.previous, place.next, queue.size]).toEqual([undefined, undefined, 2]);
      expect(drain(queue)).toEqual(left);
    },
  );

  test('an owner whose only entry leaves has no turn', () => {
    const queue = new FairQueue<string>();
    queue.add('a', {});
    const place = queue.add('b', {});
    queue.add('c', {});
    queue.remove(place);
    expect(drain(queue)).toEqual(['a', 'c']);
  });
});
