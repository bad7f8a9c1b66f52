import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mayHold } from '../../../src/values/json-schema/may-hold.ts';
import { toJsonSchema } from '../../../src/values/schema/to-json-schema.ts';

const known = (schema: object, path: string): boolean => {
  const segments = path.split('.');
  return mayHold(toJsonSchema(schema, 'output', 'test'), segments) === segments.length;
};

describe('a path that a schema may hold', () => {
  const mail = z.object({ id: z.string(), body: z.string(), from: z.object({ name: z.string() }) });

  test.each([
    ['body', true],
    ['from.name', true],
    ['*.name', true],
    ['bdoy', false],
    ['from.nam', false],
    ['body.text', false],
  ])('in an object: %s %s', (path, expected) => {
    expect(known(mail, path)).toBe(expected);
  });

  test.each([
    ['*.body', true],
    ['0.body', true],
    ['body', true],
    ['*.bdoy', false],
    ['*.*.name', true],
  ])('in an array: %s %s', (path, expected) => {
    expect(known(z.array(mail), path)).toBe(expected);
  });

  test('branches and references are followed', () => {
    const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]);
    expect([known(either, 'a'), known(either, 'b'), known(either, 'c')]).toEqual([
      true,
      true,
      false,
    ]);
    const tree: object = {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    };
    expect(known(tree, 'children.*.children.*.name')).toBe(true);
    expect(known(tree, 'children.*.nam')).toBe(false);
  });

  test('what is open may hold anything', () => {
    expect(known({}, 'a.b')).toBe(true);
    expect(known({ type: 'object' }, 'a.b')).toBe(true);
    expect(known(z.record(z.string(), z.object({ x: z.string() })), 'any.x')).toBe(true);
    expect(known(z.looseObject({ a: z.string() }), 'b')).toBe(true);
    expect(known({ type: 'object', properties: { a: true } }, 'a.b')).toBe(true);
    expect(known({ type: 'string' }, 'a')).toBe(false);
  });

  test('says how much of the path it may hold', () => {
    expect(mayHold(toJsonSchema(mail, 'output', 'test'), ['from', 'nam', 'x'])).toBe(1);
  });
});
