/** What a search depends on, and what it costs. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestTools, fairOrder, rankTools } from '../../../src/parts/discovery/rank.ts';
import { isCurrent, scopeOf } from '../../../src/parts/discovery/scope.ts';
import { createToolIndex } from '../../../src/parts/discovery/tool-index.ts';
import type { Searchable } from '../../../src/parts/discovery/tool-text.ts';

interface Tool extends Searchable {
  readonly source?: string;
}

function indexOf(tools: readonly Tool[]) {
  const index = createToolIndex<Tool>((one) => one);
  index.hold(tools);
  return index;
}

const words = ['weather', 'city', 'mail', 'send', 'file', 'folder', 'rocket', 'launch', 'order'];
const text = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 })
  .map((some) => some.join(' '));
const toolOf = (source?: string) =>
  fc.record({ name: text, description: text, parameter: text }).map(
    ({ name, description, parameter }): Tool => ({
      name: name.replaceAll(' ', '_'),
      description,
      tags: [],
      parameters: { properties: { p: { description: parameter } } },
      ...(source === undefined ? {} : { source }),
    }),
  );
const query = fc.oneof(text, fc.constantFrom('wether in the citty', 'rockets', 'xyzzy mail'));

describe('tools that a session may not be shown', () => {
  test('change nothing: not what is found, not its order, not one score', () => {
    fc.assert(
      fc.property(
        fc.array(toolOf(), { maxLength: 8 }),
        fc.array(toolOf(), { maxLength: 8 }),
        fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }),
        query,
        (visible, hidden, order, asked) => {
          const mixed: Tool[] = [];
          const [left, right] = [[...visible], [...hidden]];
          for (const first of order) {
            const next = first ? (left.shift() ?? right.shift()) : (right.shift() ?? left.shift());
            if (next !== undefined) mixed.push(next);
          }
          const alone = rankTools(scopeOf([indexOf(visible)], visible), asked);
          expect(rankTools(scopeOf([indexOf(mixed)], visible), asked)).toEqual(alone);
        },
      ),
    );
  });

  test('change nothing after they are gone', () => {
    fc.assert(
      fc.property(
        fc.array(toolOf(), { maxLength: 8 }),
        fc.array(toolOf(), { maxLength: 120 }),
        query,
        (visible, gone, asked) => {
          const index = indexOf([...gone, ...visible]);
          index.hold(visible);
          expect(rankTools(scopeOf([index], visible), asked)).toEqual(
            rankTools(scopeOf([indexOf(visible)], visible), asked),
          );
        },
      ),
    );
  });
});

test('tools of two indexes are ranked as those of one', () => {
  fc.assert(
    fc.property(
      fc.array(toolOf(), { maxLength: 8 }),
      fc.array(toolOf(), { maxLength: 8 }),
      query,
      (first, second, asked) => {
        const all = [...first, ...second];
        expect(rankTools(scopeOf([indexOf(first), indexOf(second)], all), asked)).toEqual(
          rankTools(scopeOf([indexOf(all)], all), asked),
        );
      },
    ),
  );
});

test('the best tools are the first ones of the whole ranking, with fair places', () => {
  const tools = fc.array(fc.oneof(toolOf(), toolOf('a'), toolOf('b')), { maxLength: 30 });
  const sourceOf = ({ source }: Tool) => source;
  fc.assert(
    fc.property(tools, query, fc.integer({ min: 1, max: 12 }), (all, asked, limit) => {
      const scope = scopeOf([indexOf(all)], all);
      const whole = fairOrder(rankTools(scope, asked), limit, ({ tool }) => sourceOf(tool));
      expect(bestTools(scope, asked, limit, sourceOf)).toEqual(whole);
    }),
  );
});

test('a scope is current until its index changes', () => {
  const mail: Tool = { name: 'mail', description: '', tags: [], parameters: {} };
  const index = indexOf([mail]);
  const scope = scopeOf([index], [mail]);
  index.hold([mail]);
  expect(isCurrent(scope)).toBe(true);
  index.add({ ...mail, name: 'other' });
  expect(isCurrent(scope)).toBe(false);
});

describe('what is hostile', () => {
  test('of too many common words, the rarest are looked up', () => {
    const common = Array.from({ length: 63 }, (_, at) => `common${at}x`).join(' ');
    const tools = Array.from(
      { length: 7_000 },
      (_, at): Tool => ({
        name: `tool${at}`,
        description: at === 6_999 ? `${common} needle` : common,
        tags: [],
        parameters: {},
      }),
    );
    const scope = scopeOf([indexOf(tools)], tools);
    const [best, next] = bestTools(scope, `${common} needle`, 8, () => undefined);
    expect(best).toMatchObject({ tool: { name: 'tool6999' }, score: 1 });
    expect(best?.why).toContain('needle');
    expect(best?.why.length).toBeLessThan(64);
    expect(next?.why).not.toContain('needle');
  });

  test('one word is looked up, however common it is', () => {
    const tools = Array.from(
      { length: 10 },
      (_, at): Tool => ({ name: `t${at}`, description: 'same', tags: [], parameters: {} }),
    );
    const scope = scopeOf([indexOf(tools)], tools);
    expect(bestTools(scope, 'same', 3, () => undefined)).toHaveLength(3);
  });

  test('each of 64 words says whether a tool has it', () => {
    const all = Array.from({ length: 64 }, (_, at) => `word${at}x`);
    const tools = all.map(
      (word): Tool => ({ name: word, description: '', tags: [], parameters: {} }),
    );
    const scope = scopeOf([indexOf(tools)], tools);
    const found = rankTools(scope, all.join(' '));
    expect(found).toHaveLength(64);
    for (const { tool, why } of found) expect(why).toEqual([tool.name]);
  });
});
