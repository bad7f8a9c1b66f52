/** What a listing costs is counted here, since names, and how many there are, come from outside. */
import { describe, expect, test, vi } from 'vitest';
import { RegistryState } from '../../../src/core/registry/registry-state.ts';
import { defineTool, HostToolRegistry, jsonSchema } from '../../../src/index.ts';
import { compileGlob, globBudget } from '../../../src/values/text/glob.ts';

const longestName = 1_024;
const nameOf = (index: number): string =>
  `${'a'.repeat(longestName - 6)}${String(index).padStart(6, '0')}`;

/**
 * Globs that cost as much as any can on names that repeat one letter, among them the slower kind
 * with a `?`.
 */
const rules = [
  ...Array.from(
    { length: 10 },
    (_, index) =>
      ({ effect: 'deny', tools: `${'*a'.repeat(20)}?${'*b'.repeat(index + 1)}` }) as const,
  ),
  ...Array.from(
    { length: 10 },
    (_, index) => ({ effect: 'ask', tools: `${'?*'.repeat(index + 1)}b` }) as const,
  ),
];

/** A registry of so many tools, whose rules count the tools that they are compared with. */
function listingOf(tools: number) {
  const counted = { comparisons: 0 };
  const { rulesFor } = RegistryState.prototype;
  vi.spyOn(RegistryState.prototype, 'rulesFor').mockImplementation(function counting(
    this: RegistryState,
    source,
  ) {
    return rulesFor.call(this, source).map((rule) => ({
      ...rule,
      appliesTo: (tool) => {
        counted.comparisons += 1;
        return rule.appliesTo(tool);
      },
    }));
  });
  const registry = new HostToolRegistry({ rules });
  for (let index = 0; index < tools; index += 1)
    registry.register(
      defineTool({
        name: nameOf(index),
        description: 'd',
        parameters: jsonSchema({ type: 'object' }),
        handler: () => null,
      }),
    );
  return { registry, session: registry.createSession({ sessionId: 's' }), counted };
}

describe('the steps of a listing', () => {
  test.each([1, 50, 200])('each of %i names meets each rule once', (tools) => {
    const { session, counted } = listingOf(tools);
    session.tools();
    expect(counted.comparisons).toBe(tools * rules.length);
  });

  test.each(rules.map((rule) => rule.tools))(
    'to compare the longest name with %s stays within the budget of a glob',
    (glob) => {
      const tally = { steps: 0 };
      compileGlob(glob)(nameOf(7), tally);
      expect(tally.steps).toBeGreaterThan(0);
      expect(tally.steps).toBeLessThanOrEqual(globBudget(longestName));
    },
  );

  test(
    'what was listed once is not compared again: not for another session, a plan, or the ' +
      'effective tools',
    () => {
      const { registry, session, counted } = listingOf(50);
      session.tools();
      counted.comparisons = 0;
      const other = registry.createSession({ sessionId: 'other' });
      session.tools();
      other.tools();
      other.effectiveTools();
      other.plan([{ id: '1', name: nameOf(1), arguments: {} }]);
      expect(counted.comparisons).toBe(0);
    },
  );

  test('a call that comes before any listing compares the name of its own tool alone', async () => {
    const { session, counted } = listingOf(200);
    await session.call(nameOf(7), {});
    expect(counted.comparisons).toBe(rules.length);
  });
});
