import { describe, expect, test } from 'vitest';
import { createPaint, firstLines, oneLine, table } from '../../examples/demo/terminal.ts';

describe('what goes to a terminal', () => {
  test('has colour on a terminal only, and not with NO_COLOR or TERM=dumb', () => {
    expect(createPaint({ isTTY: true }, {})('red', 'x')).toBe('\u001b[31mx\u001b[0m');
    expect(createPaint({ isTTY: true }, { NO_COLOR: '1' })('red', 'x')).toBe('x');
    expect(createPaint({ isTTY: true }, { NO_COLOR: '' })('red', 'x')).toBe('\u001b[31mx\u001b[0m');
    expect(createPaint({ isTTY: true }, { TERM: 'dumb' })('red', 'x')).toBe('x');
    expect(createPaint({}, {})('red', 'x')).toBe('x');
  });
  test('has no control characters from a tool', () => {
    expect(oneLine('a\u001b[31mb\u0007\u202ec\td\ne', 80)).toBe('a·[31mb··c d e');
  });
  test('is cut at its width, never inside a character', () => {
    expect(oneLine('😀😀😀😀', 3)).toBe('😀😀…');
    expect(firstLines('a\n\nb\nc\nd', 2, 80)).toEqual(['a', 'b', '… 2 more lines']);
  });
  test('is aligned in columns', () => {
    expect(
      table(
        ['#', 'name'],
        [
          ['1', 'a'],
          ['10', 'bcdef'],
        ],
      ),
    ).toEqual([' #  name', '──  ─────', ' 1  a', '10  bcdef']);
  });
});
