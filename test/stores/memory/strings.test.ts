/** Sessions with equal documents share one string. */
import { describe, expect, test, vi } from 'vitest';
import { memoryStore } from '../../../src/index.ts';
import { SharedStrings } from '../../../src/stores/memory/strings.ts';
import { on } from '../../surfaces/relay/watched-store.ts';

const copy = (text: string): string => Buffer.from(text).toString();

describe('shared strings', () => {
  test.each([1_024, 8_192, 8_193, 100_000, 1_048_576])(
    'of %d characters are kept once, for as long as a document uses them',
    (length) => {
      const strings = new SharedStrings();
      const text = 'x'.repeat(length);
      const take = (value: string) => {
        const shared = strings.find(value);
        strings.hold(shared);
        return shared;
      };
      const [one, two] = [take(copy(text)), take(copy(text))];
      const other = take(`${copy(text).slice(1)}y`);
      expect(one).toBeDefined();
      expect(two).toBe(one);
      expect(other).not.toBe(one);
      expect([one?.count, other?.count, strings.size]).toEqual([2, 1, 2]);
      expect(strings.release(one)).toBe(0);
      expect(strings.size).toBe(2);
      expect([strings.release(one), strings.release(other)]).toEqual([length, length]);
      expect(strings.size).toBe(0);
    },
  );

  test.each([0, 1_023, 1_048_577])('do not exist for strings of %d characters', (length) => {
    expect(new SharedStrings().find('x'.repeat(length))).toBeUndefined();
  });

  test('are released when documents change, are deleted, or end with their session', async () => {
    // Of the same length: who counts wrongly keeps one too long, or loses it too soon.
    const [one, other] = ['a', 'b'].map((letter) => letter.repeat(2_000)) as [string, string];
    const maps = vi.spyOn(Map.prototype, 'delete');
    const freed = (text: string): number => maps.mock.calls.filter(([key]) => key === text).length;
    let now = 0;
    const inner = memoryStore({ now: () => now });
    const store = on(inner);
    for (const session of ['dropped', 'expired', 'changed', 'deleted'])
      await store.create(session, 'k', copy(one), session === 'expired' ? 1_000 : 9_000);
    await store.drop('dropped');
    await store.set('changed', 'k', copy(one));
    await store.set('changed', 'k', other);
    await inner.apply({ session: 'deleted' }, [{ op: 'delete', key: 'k' }]);
    expect(freed(one)).toBe(0);
    expect((await store.get('expired', ['k']))[0]?.value).toBe(one);
    now = 1_000;
    await store.get('expired', ['k']);
    expect([freed(one), freed(other)]).toEqual([1, 0]);
    await store.set('changed', 'k', 'short');
    expect([freed(one), freed(other)]).toEqual([1, 1]);
  });

  test('count once for all sessions, also after steps that did not fit', async () => {
    const text = 'x'.repeat(20_000);
    const inner = memoryStore({ maxChars: 100_000 });
    const store = on(inner);
    const end = Date.now() + 60_000;
    for (let index = 0; index < 50; index++) {
      expect(await store.create(`s${index}`, 'k', copy(text), end)).toBe(true);
      const refused = await inner.apply({ session: `s${index}` }, [
        { op: 'set', key: 'k', value: copy(`${text}y`) },
        { op: 'set', key: 'other', value: copy(text) },
        { op: 'set', key: 'k', value: '', version: 0 },
      ]);
      expect(refused.refused).toBe(2);
    }
    for (let index = 0; index < 50; index++) await store.drop(`s${index}`);
    // All of it is free again.
    await store.create('last', 'k', '', end);
    await store.set('last', 'large', 'y'.repeat(98_000));
  });
});
