import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { refuseLoops } from '../../../src/values/json-schema/json-schema-keyword-values.ts';
import { dialectOf } from '../../../src/values/schema/dialect.ts';
import { indexReferences, resolveReference } from '../../../src/values/schema/references.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';

/**
 * Where a reference leads that stands at a place of the document: the mark of the schema there, or
 * what is wrong.
 */
function meaning(
  document: JsonObject,
  reference: string,
  from: readonly string[] = [],
): JsonValue | undefined {
  const references = indexReferences(document, dialectOf(document));
  const holder = from.reduce<JsonValue>(
    (value, key) => (value as JsonObject)[key] as JsonValue,
    document,
  ) as JsonObject;
  try {
    const { schema } = resolveReference(
      reference,
      references.owner.get(holder) ?? references.main,
      references,
      '/here',
    );
    return typeof schema === 'object' ? ((schema as JsonObject).const ?? 'root') : schema;
  } catch (error) {
    return (error as Error).message.replace('Invalid JSON Schema at `/here`: ', '');
  }
}

const nowhere = 'the reference leads nowhere: no such place in the document';
const noAnchor = 'the reference leads nowhere: no such anchor in the document';
const outside =
  'the reference leads outside the document, and nothing is ever fetched; copy the schema ' +
  'that it means into $defs';

describe('a reference leads', () => {
  const document: JsonObject = {
    $id: 'https://example.com/folder/root',
    $anchor: 'top',
    list: [false, { const: 'listed' }],
    allOf: [{ const: 'first' }],
    text: 'abc',
    $defs: {
      plain: { const: 'plain', $anchor: 'here' },
      both: { const: 'both', $anchor: 'both', $dynamicAnchor: 'both' },
      'a/b~c': { const: 'escaped' },
      ü: { const: 'encoded' },
      part: {
        $id: 'part/',
        const: 'part',
        $defs: {
          plain: { const: 'inner', $anchor: 'here' },
          deep: { $id: 'deep', const: 'deep', $anchor: 'deepest' },
        },
      },
      data: {
        const: 'data',
        default: { $anchor: 'data', $id: 'data' },
        enum: [{ $anchor: 'data' }],
      },
    },
  };

  const table: readonly (readonly [reference: string, to: JsonValue, from?: readonly string[]])[] =
    [
      ['#', 'root'],
      ['', 'root'],
      ['#top', 'root'],
      ['root', 'root'],
      ['/folder/root#here', 'plain'],
      ['https://example.com/folder/root#/$defs/plain', 'plain'],
      ['#/$defs/plain', 'plain'],
      ['#/$defs/a~1b~0c', 'escaped'],
      ['#/$defs/%C3%BC', 'encoded'],
      ['#/allOf/0', 'first'],
      ['#/list/1', 'listed'],
      ['#/list/0', false],
      ['#both', 'both'],
      ['#here', 'plain'],
      ['part/', 'part'],
      ['part/#', 'part'],
      ['part/#here', 'inner'],
      ['part/#/$defs/plain', 'inner'],
      ['part/deep', 'deep'],
      ['part/deep#deepest', 'deep'],
      ['#/$defs/part/$defs/deep', 'deep'],
      ['#', 'part', ['$defs', 'part']],
      ['#here', 'inner', ['$defs', 'part', '$defs', 'plain']],
      ['#/$defs/plain', 'inner', ['$defs', 'part']],
      ['deep', 'deep', ['$defs', 'part']],
      ['../root', 'root', ['$defs', 'part']],
      ['../part/', 'part', ['$defs', 'part', '$defs', 'deep']],
      ['#deepest', 'deep', ['$defs', 'part', '$defs', 'deep']],
      ['#deepest', noAnchor],
      ['#data', noAnchor],
      ['data', outside],
      ['deep', outside],
      ['other', outside],
      ['#none', noAnchor],
      ['#/$defs/none', nowhere],
      ['#/list/2', nowhere],
      ['#/list/01', nowhere],
      ['#/list/length', nowhere],
      ['#/allOf/-', nowhere],
      ['#/text/0', nowhere],
      ['#/toString', nowhere],
      ['#/text', 'the reference leads to something that is not a schema'],
      ['#/list', 'the reference leads to something that is not a schema'],
      ['#/%', 'the reference is not well encoded'],
      ['http://[', 'is not a URI reference'],
    ];
  for (const [reference, to, from = []] of table)
    test(
      `${reference === '' ? 'without a text' : reference} to ${JSON.stringify(to)}, from ` +
        `${['#', ...from].join('/')}`,
      () => {
        expect(meaning(document, reference, from)).toBe(to);
      },
    );

  test('to no name that two schemas have, though each of them may have two', () => {
    const twice = {
      $defs: {
        a: { $id: 'x', $anchor: 'n' },
        b: { $id: 'x' },
        c: { $anchor: 'm' },
        d: { $dynamicAnchor: 'm' },
      },
    };
    expect(meaning(twice, 'x')).toBe(
      'two schemas of the document have this $id; give them different ones',
    );
    expect(meaning(twice, '#m')).toBe(
      'two schemas of the document have this anchor; give them different ones',
    );
  });

  test(
    'to what draft-07 names by a fragment of `$id`, but not to an anchor, which it does not ' +
      'know',
    () => {
      const old: JsonObject = {
        $schema: draft07,
        definitions: {
          a: { $id: '#name', const: 'named' },
          b: { $anchor: 'anchor', const: 'b' },
          c: { $id: 'file#inside', const: 'c' },
          d: { $ref: '#name', $id: 'ignored', definitions: { e: { const: 'e' } } },
          e: { $id: 'empty#', const: 'empty' },
        },
      };
      expect(
        ['#name', 'file#inside', 'file', '#inside', '#anchor', 'ignored', 'empty', 'empty#'].map(
          (reference) => meaning(old, reference),
        ),
      ).toEqual(['named', 'c', 'c', noAnchor, noAnchor, outside, 'empty', 'empty']);
      expect(() => indexReferences({ items: { allOf: [{ $id: 'a#b' }] } }, dialectOf({}))).toThrow(
        'Invalid JSON Schema at `/items/allOf/0/$id`: an $id has no fragment; use $anchor',
      );
    },
  );

  test('to no inherited identifier or anchor, and to none that is not a text', () => {
    const heirs = {
      a: Object.create({ $anchor: 'x', $id: 'x', $dynamicAnchor: 'y' }) as JsonObject,
      b: { $id: 5, $anchor: 5 },
    };
    expect(
      ['#x', '#y', 'x', '5', '#5'].map((reference) => meaning({ $defs: heirs }, reference)),
    ).toEqual([noAnchor, noAnchor, outside, outside, noAnchor]);
  });

  test('to dynamic anchors too, which are kept apart', () => {
    const { main } = indexReferences({ $anchor: 'a', $dynamicAnchor: 'b' }, dialectOf({}));
    expect([[...main.anchors.keys()], [...main.dynamicAnchors.keys()]]).toEqual([
      ['a', 'b'],
      ['b'],
    ]);
  });
});

describe('schemas on one value', () => {
  /** The lowest limit within which all of it is. */
  const counted = (
    document: JsonObject,
    targets: ReadonlyMap<JsonObject, JsonValue> = new Map(),
  ): number => {
    for (let limit = 0; limit < 100; limit++) {
      try {
        refuseLoops([document], targets, dialectOf(document), limit);
        return limit;
      } catch (error) {
        expect((error as Error).message).toBe(
          `Invalid JSON Schema at \`#\`: references and combinations apply more than ${limit} ` +
            'schemas to one value',
        );
      }
    }
    throw new Error('There is no end of it.');
  };

  test('are counted with repetition, through all that sees the same value', () => {
    const part = { anyOf: [true, {}] };
    expect(counted({})).toBe(1);
    expect(counted(part)).toBe(3);
    expect(counted({ allOf: [part, part], not: false, properties: { a: part } })).toBe(8);
    expect(counted({ items: part }, new Map([[part, {}]]))).toBe(1);
    const holder = { $ref: '#/x', allOf: [true] };
    expect(counted(holder, new Map([[holder, part]]))).toBe(5);
    expect(counted(holder, new Map([[holder, true]]))).toBe(3);
    const lone = { $schema: draft07, ...holder };
    expect(counted(lone, new Map([[lone, part]]))).toBe(4);
  });

  test('in a circle are refused, wherever it begins', () => {
    const a: JsonObject = { $ref: 'to b' };
    const b: JsonObject = { not: a };
    const circle = (schemas: readonly JsonObject[]) => () =>
      refuseLoops(schemas, new Map([[a, b]]), dialectOf({}), Number.POSITIVE_INFINITY);
    for (const run of [circle([{}, b]), circle([{ allOf: [true, b] }]), circle([a])])
      expect(run).toThrow(
        'Invalid JSON Schema at `#`: references lead in a circle that consumes no input, by ' +
          'way of `to b` (string); put one of them',
      );
    expect(circle([{ properties: { a }, items: b }])).not.toThrow();
  });
});
