import { describe, expect, test } from 'vitest';
import { content, fail } from '../../../src/index.ts';
import { shownOutcome } from '../../../src/surfaces/shared/outcome.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';

const outcomeOf = async (handler: () => unknown, declared = false) => {
  const session = createTestSession({
    tools: [mockTool({ name: 'tool', handler: handler as never })],
  });
  return shownOutcome(await session.call('tool', {}), declared);
};

describe('shownOutcome', () => {
  test('shows text always', async () => {
    expect(await outcomeOf(() => 'hello')).toEqual({ text: 'hello', isError: false });
    expect(await outcomeOf(() => ({ a: 1 }))).toEqual({ text: '{"a":1}', isError: false });
    expect(await outcomeOf(() => null)).toEqual({ text: 'Success', isError: false });
  });

  test('shows structured content if the tool declares an output, wrapped if needed', async () => {
    expect(await outcomeOf(() => ({ a: 1 }), true)).toMatchObject({ structured: { a: 1 } });
    expect(await outcomeOf(() => [1], true)).toMatchObject({
      text: '[1]',
      structured: { result: [1] },
    });
  });

  test('shows the code of a failure, and its reason', async () => {
    expect(await outcomeOf(() => fail({ message: 'Dirty.', reason: 'dirty_worktree' }))).toEqual({
      text: 'Error: Dirty.',
      isError: true,
      error: { code: 'handler_error', reason: 'dirty_worktree' },
    });
  });

  test('shows content parts as they were made', async () => {
    const parts = [content.text('a'), content.image('AAAA', 'image/png')];
    expect(await outcomeOf(() => parts)).toEqual({
      text: 'a\n[image: image/png]',
      isError: false,
      parts: [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    });
  });
});
