/** What a listing costs is counted here, since names, and how many there are, come from outside. */
import { describe, expect, test, vi } from 'vitest';
import * as globs from '../../src/glob.ts';
import { defineTool, HostToolRegistry, jsonSchema } from '../../src/index.ts';

const counted = vi.hoisted(() => ({ steps: 0, comparisons: 0 }));

vi.mock('../../src/glob.ts', async (original) => {
  const real = await original<typeof globs>();
  return {
    ...real,
    globTest: (glob: string, overBudget: boolean) => {
      const matches = real.compileGlob(glob);
      return (text: string) => {
        counted.comparisons += 1;
        const answer = matches(text, counted);
        return answer === 'over_budget' ? overBudget : answer;
      };
    },
  };
});

/** Globs that cost as much as any can on names that repeat one letter, among them the slower kind with a `?`. */
const rules = [
  ...Array.from({ length: 10 }, (_, index) => ({ effect: 'deny', tools: `${'*a'.repeat(20)}?${'*b'.repeat(index + 1)}` }) as const),
  ...Array.from({ length: 10 }, (_, index) => ({ effect: 'ask', tools: `${'?*'.repeat(index + 1)}b` }) as const),
];
const longestName = 1_024;

function listingOf(tools: number) {
  const registry = new HostToolRegistry({ rules });
  const name = (index: number): string => `${'a'.repeat(longestName - 6)}${String(index).padStart(6, '0')}`;
  const add = (index: number) =>
    registry.register(defineTool({ name: name(index), description: 'd', parameters: jsonSchema({ type: 'object' }), handler: () => null }));
  for (let index = 0; index < tools; index += 1) add(index);
  return { registry, session: registry.createSession({ sessionId: 's' }), add, name };
}

function cost(work: () => unknown): { readonly steps: number; readonly comparisons: number } {
  counted.steps = 0;
  counted.comparisons = 0;
  work();
  return { ...counted };
}

describe('the steps of a listing', () => {
  test('each name meets each rule once, and no comparison is over the budget of its name', () => {
    const { session } = listingOf(200);
    const { steps, comparisons } = cost(() => session.tools());
    expect(comparisons).toBeLessThanOrEqual(200 * rules.length);
    expect(steps).toBeGreaterThan(0);
    expect(steps).toBeLessThanOrEqual(comparisons * globs.globBudget(longestName));
  });

  test('twice the tools are twice the steps', () => {
    const [small, large] = [200, 400].map((tools) => {
      const { session } = listingOf(tools);
      return cost(() => session.tools());
    });
    expect(large?.steps).toBeLessThanOrEqual(2 * (small?.steps ?? 0) + globs.globBudget(longestName));
    expect(large?.comparisons).toBe(2 * (small?.comparisons ?? 0));
  });

  test('what was listed once is not compared again: not for another session, a plan, an explanation or a call', async () => {
    const { registry, session, name } = listingOf(50);
    session.tools();
    const other = registry.createSession({ sessionId: 'other' });
    const again = cost(() => [session.tools(), other.tools(), other.effectiveTools(), other.plan([{ id: '1', name: name(1), arguments: {} }])]);
    expect(again).toEqual({ steps: 0, comparisons: 0 });
  });

  test('a call that comes before any listing compares the name of its own tool alone', async () => {
    const { session, name } = listingOf(200);
    counted.comparisons = 0;
    await session.call(name(7), {});
    expect(counted.comparisons).toBeLessThanOrEqual(rules.length);
  });
});
