import { describe, expect, test } from 'vitest';
import { createGathered, type ToolsChange } from '../../../src/core/registry/gathered-changes.ts';

describe('changes of tools that are announced together', () => {
  test.each<[string, ToolsChange[], ToolsChange | undefined]>([
    ['none', [], undefined],
    ['what came', [{ added: ['a', 'b'] }], { added: ['a', 'b'], removed: [], modified: [] }],
    ['what came and went was never there', [{ added: ['a'] }, { removed: ['a'] }], undefined],
    [
      'what came and was replaced came',
      [{ added: ['a'] }, { modified: ['a'] }],
      { added: ['a'], removed: [], modified: [] },
    ],
    [
      'what was replaced and went went',
      [{ modified: ['a'] }, { removed: ['a'] }],
      { added: [], removed: ['a'], modified: [] },
    ],
    [
      'what went and came again is another',
      [{ removed: ['a'] }, { added: ['a'] }],
      { added: [], removed: [], modified: ['a'] },
    ],
  ])('%s', (_, changes, told) => {
    const gathered = createGathered();
    for (const change of changes) gathered.add(change);
    expect(gathered.tools()).toEqual(told);
  });

  test('the reason is `registry` where tools changed, else the first', () => {
    const gathered = createGathered();
    expect(gathered.reason).toBeUndefined();
    for (const reason of ['rules', 'profile'] as const) gathered.note(reason);
    expect(gathered.reason).toBe('rules');
    for (const reason of ['registry', 'profile'] as const) gathered.note(reason);
    expect(gathered.reason).toBe('registry');
  });
});
