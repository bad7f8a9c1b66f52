/** Ranks tools by the words of a query. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Hit, rankTools } from '../../../src/parts/discovery/rank.ts';
import { scopeOf } from '../../../src/parts/discovery/scope.ts';
import { createToolIndex, type ToolIndex } from '../../../src/parts/discovery/tool-index.ts';
import type { Searchable } from '../../../src/parts/discovery/tool-text.ts';

function tool(name: string, description = '', more: Partial<Searchable> = {}): Searchable {
  return { name, description, tags: [], parameters: {}, ...more };
}

function indexOf(tools: readonly Searchable[]) {
  const index = createToolIndex<Searchable>((one) => one);
  index.hold(tools);
  return {
    index,
    rank: (query: string, visible = tools) => rank(index, query, visible),
    names: (query: string, visible = tools) =>
      rank(index, query, visible).map(({ tool: { name } }) => name),
  };
}

function rank(
  index: ToolIndex<Searchable>,
  query: string,
  visible: readonly Searchable[],
): Hit<Searchable>[] {
  return rankTools(scopeOf([index], visible), query);
}

const mail = tool('send_email', 'Sends a message to an address.');
const weather = tool('get_weather', 'Tells the weather of a city.');
const files = tool('list_files', 'Lists the files of a folder.');

describe('rank', () => {
  test.each([
    ['its name', tool('refund_order')],
    ['its title', tool('t', '', { title: 'Refund an order' })],
    ['its description', tool('t', 'Refunds an order.')],
    ['a parameter', tool('t', '', { parameters: { properties: { refund_order: {} } } })],
    [
      'the description of a parameter',
      tool('t', '', {
        parameters: { properties: { id: { description: 'The order to refund.' } } },
      }),
    ],
    ['a tag', tool('t', '', { tags: ['refund', 'order'] })],
    ['a value', tool('t', '', { parameters: { properties: { do: { enum: ['refund order'] } } } })],
    ['an example', tool('t', '', { parameters: { properties: { x: { examples: ['refund'] } } } })],
    [
      'a nested parameter',
      tool('t', '', {
        parameters: {
          properties: { list: { type: 'array', items: { properties: { refund: {} } } } },
        },
      }),
    ],
  ])('finds a tool by %s', (_, found) => {
    expect(indexOf([mail, found, weather]).names('refund the order')).toEqual([found.name]);
  });

  test('a tool that has more of the words comes first', () => {
    const { names } = indexOf([
      tool('a', 'weather weather weather weather'),
      tool('b', 'weather of a city'),
    ]);
    expect(names('weather in the city')).toEqual(['b', 'a']);
  });

  test('scores are shares of the best, and the words of the query say why', () => {
    const [best, next] = indexOf([mail, weather, files]).rank('Sending files to an address');
    expect(best).toMatchObject({ tool: mail, score: 1, why: ['sending', 'address'] });
    expect(next).toMatchObject({ tool: files, why: ['files'] });
    expect(next?.score).toBeGreaterThan(0);
    expect(next?.score).toBeLessThan(1);
  });

  test('equal tools keep the order of the listing', () => {
    const twins = ['t3', 't1', 't2'].map((name) => tool(name, 'Does the work.'));
    expect(indexOf(twins).names('work')).toEqual(['t3', 't1', 't2']);
    expect(indexOf(twins).names('work', [...twins].reverse())).toEqual(['t2', 't1', 't3']);
  });

  test('a misspelt word finds similar ones; a word that is known finds only itself', () => {
    const { names } = indexOf([weather, tool('t', 'leather')]);
    expect(names('waether')).toContain('get_weather');
    expect(names('weather')).toEqual(['get_weather']);
  });

  test('a query without any known word finds nothing', () => {
    const { names } = indexOf([mail, weather]);
    expect(names('xyzzy')).toEqual([]);
    expect(names('the of and')).toEqual([]);
    expect(names('!!!')).toEqual([]);
  });
});

describe('what is not visible', () => {
  const secret = tool('launch_rocket', 'Launches a rocket.');
  const tools = [mail, weather, files, secret];
  const visible = [mail, weather, files];

  test('is not found', () => {
    expect(indexOf(tools).names('launch a rocket', visible)).toEqual([]);
  });

  test('its words count as words of no tool', () => {
    const { index } = indexOf(tools);
    const found = (query: string) => rank(index, query, visible);
    expect(found('rocket weather')).toEqual(found('xyzzyx weather'));
  });

  test('a word of a hidden tool is looked up like a misspelt one', () => {
    const pocket = tool('pocket', 'Opens the pocket.');
    const { names } = indexOf([...tools, pocket]);
    expect(names('rocket', [...visible, pocket])).toEqual(['pocket']);
  });

  test('whatever is asked, only visible tools are found', () => {
    const { names } = indexOf(tools);
    const word = fc.constantFrom('launch', 'rocket', 'weather', 'send', 'lanch', 'files', 'x');
    fc.assert(
      fc.property(fc.array(word), fc.subarray(tools), (words, shown) => {
        const allowed = new Set(shown.map(({ name }) => name));
        for (const name of names(words.join(' '), shown)) expect(allowed.has(name)).toBe(true);
      }),
    );
  });
});

describe('hold', () => {
  test('an index that changed answers as a new one does', () => {
    const pool = [mail, weather, files, ...'abcdefgh'].map((one) =>
      typeof one === 'string' ? tool(one, `Does ${one} with files and weather.`) : one,
    );
    fc.assert(
      fc.property(
        fc.array(fc.subarray(pool), { minLength: 1, maxLength: 5 }),
        fc.constantFrom('weather files', 'send weather', 'does a', 'files'),
        (states, query) => {
          const index = createToolIndex<Searchable>((one) => one);
          for (const tools of states) index.hold(tools);
          const last = states.at(-1) as Searchable[];
          const round = (hits: Hit<Searchable>[]) =>
            hits.map(({ tool: { name }, score, why }) => [name, score.toFixed(6), why]);
          expect(round(rank(index, query, last))).toEqual(round(indexOf(last).rank(query)));
        },
      ),
    );
  });

  test('a tool that was held and dropped a thousand times leaves no waste', () => {
    const index = createToolIndex<Searchable>((one) => one);
    for (let round = 0; round < 1_000; round++)
      index.hold([mail, tool(`t${round}`, 'Comes and goes.')]);
    const last = tool('last', 'Comes and stays.');
    index.hold([mail, last]);
    expect(rank(index, 'comes', [mail, last]).map(({ tool: { name } }) => name)).toEqual(['last']);
  });
});

describe('what is hostile', () => {
  test('a tool is found by a bounded part of its text', () => {
    const long = tool('long', `${'x '.repeat(100_000)} needle`, {
      parameters: {
        properties: Object.fromEntries(
          Array.from({ length: 5_000 }, (_, at) => [`p${at}`, { description: 'y '.repeat(1_000) }]),
        ),
      },
    });
    expect(indexOf([long, mail]).names('needle')).toEqual([]);
  });

  test('a schema that nests deeply ends', () => {
    let parameters = {};
    for (let depth = 0; depth < 5_000; depth++) parameters = { properties: { deep: parameters } };
    expect(indexOf([tool('deep', '', { parameters })]).names('deep')).toEqual(['deep']);
  });

  test('names of properties are only texts', () => {
    const odd = tool('__proto__x', 'constructor toString', {
      parameters: { properties: JSON.parse('{"__proto__":{"description":"hidden"}}') },
    });
    expect(indexOf([odd]).names('constructor')).toEqual(['__proto__x']);
    expect(indexOf([odd, mail]).names('hasOwnProperty valueOf')).toEqual([]);
  });

  test('a query of any words ends with what it found', () => {
    const words = Array.from({ length: 600 }, (_, at) => `word${at}`).join(' ');
    expect(indexOf([tool('w', 'word3'), mail]).names(words.slice(0, 4_096))[0]).toBe('w');
  });
});
