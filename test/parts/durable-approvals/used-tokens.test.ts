import { describe, expect, test } from 'vitest';
import { UsedTokens } from '../../../src/parts/durable-approvals/token.ts';

describe('used tokens', () => {
  test('are used once, and remembered until they expire', () => {
    const used = new UsedTokens();
    expect(used.use('a', 10, 0)).toBe(true);
    expect(used.use('a', 10, 5)).toBe(false);
    expect(used.use('__proto__', 10, 5)).toBe(true);
    expect(used.use('__proto__', 10, 5)).toBe(false);
  });

  test('are forgotten when they have expired, so that memory stays bounded', () => {
    const used = new UsedTokens();
    for (let n = 0; n < 1_024; n++) used.use(`old-${n}`, 10, 0);
    for (let n = 0; n < 2_048; n++) used.use(`new-${n}`, 100, 20);
    // Sweeping forgot the old ones: an id of theirs would be new again, and its token is refused
    // for its age.
    expect(used.use('old-0', 10, 20)).toBe(true);
    expect(used.use('new-0', 100, 20)).toBe(false);
  });

  test(
    'are looked through when there are 1 024, and then when there are twice as many as were ' +
      'left',
    () => {
      const used = new UsedTokens();
      for (let n = 0; n < 1_022; n++) used.use(`old-${n}`, 10, 0);
      used.use('new-0', 100, 10);
      expect(used.use('old-0', 10, 10)).toBe(false);
      used.use('new-1', 100, 10);
      expect(used.use('old-0', 100, 10)).toBe(true);
      // Three are left, so the next look is at 1 024.
      for (let n = 3; n < 1_023; n++) used.use(`late-${n}`, 20, 10);
      expect(used.use('late-3', 20, 20)).toBe(false);
      used.use('new-2', 100, 19);
      expect(used.use('late-3', 20, 20)).toBe(false);
      // All 1 024 were left, so the next look is at 2 048.
      for (let n = 1_024; n < 2_047; n++) used.use(`more-${n}`, 20, 20);
      expect(used.use('late-3', 20, 20)).toBe(false);
      used.use('new-3', 100, 20);
      expect(used.use('late-3', 20, 20)).toBe(true);
    },
  );
});
