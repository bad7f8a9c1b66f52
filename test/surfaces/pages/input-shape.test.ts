import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  foldMembers,
  foldsIn,
  foldText,
  type Shape,
  shapeOf,
} from '../../../src/surfaces/pages/browser/parts/input-shape.ts';
import { visibleText } from '../../../src/surfaces/pages/browser/parts/visible.ts';

const lines = (count: number): string =>
  Array.from({ length: count }, (_, at) => `${at}`).join('\n');

/** What is in sight, as the view draws it. */
function inSight(value: unknown, open: ReadonlySet<string>, pointer = '', depth = 0): string[] {
  const shape: Shape = shapeOf(value, pointer, depth);
  if (shape.kind === 'line') return [JSON.stringify(shape.value)];
  if (shape.kind === 'block')
    return [(open.has(pointer) ? undefined : foldText(shape.text)?.shown) ?? shape.text];
  const folded = open.has(pointer) ? undefined : foldMembers(shape.members, shape.isList);
  return (folded?.shown ?? shape.members).flatMap((one) =>
    inSight(one.value, open, one.pointer, depth + 1),
  );
}

describe('the input of a call, as it is laid out', () => {
  test.each<[what: string, value: unknown, kind: Shape['kind']]>([
    ['a short text', 'x', 'line'],
    ['a number', 5, 'line'],
    ['null', null, 'line'],
    ['an empty object', {}, 'line'],
    ['a text with a line break', 'a\nb', 'block'],
    ['a long text', 'x'.repeat(161), 'block'],
    ['an object', { a: 1 }, 'members'],
    ['a list', [1], 'members'],
    ['a large object', Array.from({ length: 400 }, () => 1), 'block'],
  ])('%s is a %s', (_, value, kind) => {
    expect(shapeOf(value, '/x', 1).kind).toBe(kind);
  });

  test('an input is never one block of JSON, however large it is', () => {
    const input = { list: Array.from({ length: 9_000 }, () => ({ a: 1 })), text: lines(80) };
    expect(shapeOf(input, '').kind).toBe('members');
    expect(foldsIn(input, new Set())).toEqual([
      { pointer: '/list', rest: '26,986 more lines' },
      { pointer: '/text', rest: '64 more lines' },
    ]);
  });

  test.each<[value: unknown, folds: string[]]>([
    [{ text: lines(24) }, []],
    [{ text: lines(25) }, ['/text: 9 more lines']],
    [{ text: 'x'.repeat(2_500) }, []],
    [{ text: 'x'.repeat(2_501) }, ['/text: 501 more characters']],
    [{ list: Array.from({ length: 25 }, () => 1) }, ['/list: 9 more entries']],
    [
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`a${at}`, 1])),
      [': 14 more fields'],
    ],
    [{ 'a/b': { c: lines(99) } }, ['/a~1b/c: 83 more lines']],
  ])('%j folds %j', (value, folds) => {
    const found = foldsIn(value, new Set());
    expect(found.map(({ pointer, rest }) => `${pointer}: ${rest}`)).toEqual(folds);
    // Unfolded, nothing is left out.
    expect(foldsIn(value, new Set(found.map(({ pointer }) => pointer)))).toEqual([]);
  });

  test('whatever is not in sight is named as folded', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(60), (input, more) => {
        const value = {
          ...input,
          text: lines(more),
          list: Array.from({ length: more }, () => more),
        };
        const folds = foldsIn(value, new Set());
        const all = new Set(folds.map(({ pointer }) => pointer));
        const [some, whole] = [inSight(value, new Set()), inSight(value, all)];
        expect(folds.length === 0).toBe(some.join() === whole.join());
      }),
    );
  });

  test('cuts no character in half', () => {
    expect(foldText('😀'.repeat(2_000))?.shown.isWellFormed()).toBe(true);
    expect(foldText(`x${'😀'.repeat(2_000)}`)?.shown.isWellFormed()).toBe(true);
  });
});

describe('a text on the page', () => {
  test('keeps its lines and tabs, and shows what would hide or reorder it', () => {
    expect(visibleText('a\n\tb\r\u0000\u202e\u200b\ufeff\u00ad\u{e0041}é❤\ufe0f')).toBe(
      'a\n\tb\\u000d\\u0000\\u202e\\u200b\\ufeff\\u00ad\\udb40\\udc41é❤\ufe0f',
    );
  });
});
