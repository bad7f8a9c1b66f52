/**
 * One meaning of `$ref`: what the validator follows is what surfaces show and what nulls are taken
 * out by.
 */
import { describe, expect, test } from 'vitest';
import { type JsonObject, type JsonSchema, jsonSchema } from '../../../src/index.ts';
import { toGeminiTools } from '../../../src/surfaces/gemini/index.ts';
import { toOpenAITools } from '../../../src/surfaces/openai/index.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';
import { followReference, pointerOf } from '../../../src/values/schema/local-reference.ts';
import { withoutStrictNulls } from '../../../src/values/schema/strict-nulls.ts';

const place = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'number' } },
  required: ['a'],
  additionalProperties: false,
} as const;

const document = ($ref: string, more: object): JsonObject => ({
  type: 'object',
  $defs: { 's/t': { ...more, ...place } },
  properties: { x: { $ref } },
  required: ['x'],
  additionalProperties: false,
});

const spellings: readonly (readonly [string, JsonObject])[] = [
  ['a pointer', document('#/$defs/s~1t', {})],
  ['an encoded pointer', document('#/%24defs/s~1t', {})],
  ['an anchor', document('#s', { $anchor: 's' })],
  ['an id', document('place.json', { $id: 'place.json' })],
];

const shownOf = (schema: JsonObject) => {
  const session = createTestSession({
    tools: [mockTool({ name: 't', parameters: jsonSchema<object>(schema as JsonSchema) })],
  });
  const [tool] = toOpenAITools(session).tools;
  if (tool === undefined) throw new Error('The session shows no tool.');
  return { strict: tool.function, session };
};

describe.each(spellings)('%s', (_spelling, schema) => {
  test('leads to the same schema', () => {
    const holder = (schema.properties as JsonObject).x as JsonObject;
    const target = followReference(String(holder.$ref), holder, schema) as JsonObject;
    expect(target).toMatchObject(place);
    expect(pointerOf(target, schema)).toBe('/$defs/s~1t');
  });

  test('is strict, with the definition beside it', () => {
    const { strict } = shownOf(schema);
    expect(strict.strict).toBe(true);
    const { $defs, properties } = strict.parameters as {
      $defs: Record<string, JsonObject>;
      properties: { x: { $ref: string } };
    };
    const name = properties.x.$ref.slice('#/$defs/'.length);
    expect($defs[name]).toEqual({
      ...place,
      properties: { a: { type: 'string' }, b: { type: ['number', 'null'] } },
      required: ['a', 'b'],
    });
  });

  test('has its nulls taken out', () => {
    expect(withoutStrictNulls({ x: { a: 'a', b: null } }, schema, () => {})).toEqual({
      x: { a: 'a' },
    });
  });

  test('is shown in the place of the reference where a dialect has none', () => {
    const { session } = shownOf(schema);
    const [tool] = toGeminiTools(session, { schema: 'openapi' }).tools;
    expect(tool?.functionDeclarations?.[0]?.parameters).toMatchObject({
      properties: { x: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } },
    });
  });
});

test('two spellings of one reference are one definition', () => {
  const schema = document('#s', { $anchor: 's' });
  const { strict } = shownOf({
    ...schema,
    properties: { x: { $ref: '#s' }, y: { $ref: '#/$defs/s~1t' } },
    required: ['x', 'y'],
  });
  expect(strict.strict).toBe(true);
  expect(Object.keys((strict.parameters as { $defs: object }).$defs)).toHaveLength(1);
});

test('a circle by an anchor ends', () => {
  const tree = {
    $anchor: 'tree',
    type: 'object',
    properties: { next: { $ref: '#tree' } },
    required: [],
    additionalProperties: false,
  };
  const { strict, session } = shownOf({
    type: 'object',
    $defs: { tree },
    properties: { x: { $ref: '#tree' } },
    required: ['x'],
    additionalProperties: false,
  });
  expect(strict.strict).toBe(true);
  expect(toGeminiTools(session, { schema: 'openapi' }).warnings).toMatchObject([
    { message: expect.stringContaining('would never end') },
  ]);
});

test(
  'data is no place for an anchor, and a part with an `$id` of its own is where its references ' +
    'start',
  () => {
    const other = { type: 'string' };
    const data: JsonObject = {
      ...document('#s', { $anchor: 's' }),
      default: { $anchor: 's', type: 'number' },
    };
    const holder = (data.properties as JsonObject).x as JsonObject;
    expect(followReference('#s', holder, data)).toMatchObject(place);
    const inner = {
      $id: 'inner.json',
      $defs: { z: other },
      type: 'object',
      properties: { z: { $ref: '#/$defs/z' } },
    };
    const outer = {
      type: 'object',
      $defs: { z: { type: 'number' }, inner },
      properties: { z: { $ref: '#/$defs/z' } },
    } as unknown as JsonObject;
    expect(followReference('#/$defs/z', inner.properties.z, outer)).toBe(other);
    expect(
      followReference('#/$defs/z', (outer.properties as JsonObject).z as JsonObject, outer),
    ).toEqual({ type: 'number' });
    // A copy has lost its place, and might mean either.
    expect(followReference('#/$defs/z', { $ref: '#/$defs/z' }, outer)).toBeUndefined();
  },
);

describe('a document', () => {
  /** One whose members are counted each time they are read. */
  const counted = (members: object): { root: JsonObject; reads: () => number } => {
    let reads = 0;
    const root = {};
    for (const [name, value] of Object.entries(members))
      Object.defineProperty(root, name, {
        enumerable: true,
        get() {
          reads++;
          return value;
        },
      });
    return { root: root as JsonObject, reads: () => reads };
  };

  test('is read once, however many references are followed and places asked for', () => {
    const part = { $anchor: 'a', type: 'string' };
    const { root, reads } = counted({ $defs: { part }, allOf: [{ $ref: '#a' }, part] });
    expect([followReference('#a', root, root), pointerOf(part, root)]).toEqual([
      part,
      '/$defs/part',
    ]);
    const before = reads();
    expect([
      followReference('#a', root, root),
      pointerOf(part, root),
      pointerOf(root, root),
      pointerOf({}, root),
    ]).toEqual([part, '/$defs/part', '', undefined]);
    expect(reads()).toBe(before);
  });

  test('of a dialect that is not known has no references, and is read once to find that', () => {
    const { root, reads } = counted({ $schema: 'mine', $anchor: 'a' });
    expect([followReference('#a', root, root), followReference('#a', root, root), reads()]).toEqual(
      [undefined, undefined, 1],
    );
  });

  test('names the first place of a shared part, and none of a value that is no object', () => {
    const [part, listed] = [{}, {}];
    const root = { a: [null, 'text', { b: part }, listed], c: part } as unknown as JsonObject;
    expect(pointerOf(listed, root)).toBe('/a/3');
    expect([
      pointerOf(part, root),
      pointerOf(root.a as JsonObject, root),
      pointerOf(null, root),
      pointerOf('text', root),
    ]).toEqual(['/c', '/a', undefined, undefined]);
  });
});

test.each(['#nowhere', '#/$defs/none', 'https://example.com/x.json', '%', '#%'])(
  '%s leads nowhere, without an error',
  ($ref) => {
    const schema = document($ref, {});
    expect(
      followReference($ref, (schema.properties as JsonObject).x as JsonObject, schema),
    ).toBeUndefined();
  },
);
