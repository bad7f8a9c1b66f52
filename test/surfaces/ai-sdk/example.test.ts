import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

test(
  'the example: gates answer at once, a person answers through the SDK, and its own assertions ' +
    'hold',
  async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation(
      (...parts: unknown[]) => void lines.push(parts.join(' ')),
    );
    await import('../../../examples/ai-sdk-agent.ts');
    expect(lines).toContain('c4 waits for a person');
    expect(lines.at(-1)).toBe('The rent is paid. Mallory is blocked.');
  },
);
