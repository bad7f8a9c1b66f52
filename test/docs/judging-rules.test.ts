/** What the pages say about the wide and the narrow reading of a rule is what rules do. */
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { defineTool, HostToolRegistry, type Rule } from '../../src/index.ts';
import { guidePages } from './pages.ts';

/** `` | `{ when }` | `{input}` | matches | – | ``. */
const rowPattern = /^\| `(\{.*\})` \| `(\{.*\})` \| (matches|–) \| (matches|–) \|$/gm;

const rows = ['docs/judging-rules.md', 'docs/policies-and-profiles.md'].map((path) => {
  const { text } = guidePages().find((page) => page.path === path)!;
  return [path, [...text.matchAll(rowPattern)].map(([, ...cells]) => cells)] as const;
});

async function matches(effect: 'deny' | 'ask' | 'allow', when: string, input: string) {
  const rule: Rule = { id: 'one', effect, when: parse(when) as NonNullable<Rule['when']> };
  const registry = new HostToolRegistry({ rules: [rule] });
  registry.register(
    defineTool({
      name: 'tool',
      description: 'A tool that takes anything.',
      parameters: { type: 'object' },
      handler: () => null,
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  const { ruleId } = await session.explain('tool', JSON.parse(input));
  await registry.close();
  return ruleId === 'one' ? 'matches' : '–';
}

describe.each(rows)('%s', (path, cells) => {
  test('has a table of readings', () => {
    expect(cells.length).toBeGreaterThan(path === 'docs/judging-rules.md' ? 20 : 5);
  });

  test.each(cells)('when %s, input %s: a deny or ask %s, an allow %s', async (...row) => {
    const [when = '', input = '', wide, narrow] = row;
    const found = await Promise.all(
      (['deny', 'ask', 'allow'] as const).map((effect) => matches(effect, when, input)),
    );
    expect(found).toEqual([wide, wide, narrow]);
  });
});
