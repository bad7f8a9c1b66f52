import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changedParts,
  type DiffLine,
  diffLines,
  nearChanges,
} from '../../../src/surfaces/pages/browser/approvals/input-diff.ts';
import { cpuMs } from '../../runner/cpu-time.ts';

const words = (lines: readonly DiffLine[]): string[] =>
  lines.map(({ kind, text }) => `${{ same: ' ', gone: '-', new: '+' }[kind]}${text}`);
const side = (lines: readonly DiffLine[], without: DiffLine['kind']): string =>
  lines
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('\n');

describe('what an edit changes', () => {
  test('is shown line by line, with removed lines before new ones', () => {
    expect(words(diffLines('{\n"a": 1,\n"b": 2\n}', '{\n"a": 1,\n"b": 3,\n"c": 4\n}'))).toEqual([
      ' {',
      ' "a": 1,',
      '-"b": 2',
      '+"b": 3,',
      '+"c": 4',
      ' }',
    ]);
  });

  test('gives both texts back, whatever they are', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '', '{', 'é'), { minLength: 1, maxLength: 12 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        expect(side(lines, 'new')).toBe(before);
        expect(side(lines, 'gone')).toBe(after);
        if (before === after) expect(lines.every(({ kind }) => kind === 'same')).toBe(true);
      }),
    );
  });

  test('of two long texts with nothing in common is found at once', () => {
    const text = (letter: string): string =>
      Array.from({ length: 20_000 }, (_, at) => `${letter}${at}`).join('\n');
    const from = cpuMs();
    expect(diffLines(text('a'), text('b'))).toHaveLength(40_000);
    // To compare each line with each takes minutes.
    expect(cpuMs() - from).toBeLessThan(15_000);
  });

  test('far apart in a long text leaves what is between alone', () => {
    const before = Array.from({ length: 20_000 }, (_, at) => `${at}`);
    const after = before.with(10, 'ten').with(19_990, 'last');
    const lines = diffLines(before.join('\n'), after.join('\n'));
    expect(words(lines.filter(({ kind }) => kind !== 'same'))).toEqual([
      '-10',
      '+ten',
      '-19990',
      '+last',
    ]);
  });

  test('is shown with three lines around it, and the number of the others', () => {
    const before = Array.from({ length: 20 }, (_, at) => `${at}`);
    const after = before.with(10, 'ten');
    const shown = nearChanges(diffLines(before.join('\n'), after.join('\n')));
    expect(shown[0]).toEqual({ kind: 'left-out', count: 7 });
    expect(shown.at(-1)).toEqual({ kind: 'left-out', count: 6 });
    expect(words(shown.slice(1, -1) as DiffLine[])).toEqual([
      ' 7',
      ' 8',
      ' 9',
      '-10',
      '+ten',
      ' 11',
      ' 12',
      ' 13',
    ]);
    expect(nearChanges(diffLines('a\nb', 'a\nb'))).toEqual([{ kind: 'left-out', count: 2 }]);
  });

  test('within a line is marked, and cuts no character in half', () => {
    expect(changedParts('"to": "eve"', '"to": "bob"')).toEqual([
      { start: '"to": "', changed: 'eve', end: '"' },
      { start: '"to": "', changed: 'bob', end: '"' },
    ]);
    expect(changedParts('x😀y', 'x😁y').map(({ changed }) => changed)).toEqual(['😀', '😁']);
    const text = fc.string({
      unit: fc.constantFrom('a', '😀', '😁', '\ud83e\udd80'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [a, b] = changedParts(before, after);
        expect(a.start + a.changed + a.end).toBe(before);
        expect(b.start + b.changed + b.end).toBe(after);
        for (const part of [a, b].flatMap(Object.values))
          expect(part).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});
