import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/index.ts';
import {
  readEdited,
  startEdit,
  toggled,
} from '../../../src/surfaces/pages/browser/parts/edited-input.ts';
import {
  fieldsFor,
  fieldsOf,
  inputOf,
  textIn,
} from '../../../src/surfaces/pages/browser/parts/schema-fields.ts';

const none = new Map<string, string>();
const schema = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const kindOf = (member: object, value?: JsonValue): string | undefined =>
  fieldsFor(schema({ x: member }), value === undefined ? {} : { x: value })?.[0]?.kind;

describe('the fields of a form', () => {
  test.each<[member: object, value: JsonValue | undefined, kind: string]>([
    [{ type: 'string' }, undefined, 'text'],
    [{ type: 'string' }, 'a\nb', 'long'],
    [{ type: 'string' }, 'x'.repeat(81), 'long'],
    [{ type: 'integer' }, 5, 'integer'],
    [{ type: 'number' }, undefined, 'number'],
    [{ type: 'boolean' }, true, 'yes-no'],
    [{ enum: ['a', 'b'] }, 'a', 'choice'],
    [{ const: 'a' }, undefined, 'choice'],
    [{ type: 'array' }, [1], 'json'],
    [{ type: 'object' }, {}, 'json'],
    [{ type: ['string', 'null'] }, 'a', 'text'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'a', 'text'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'a', 'json'],
    // A value that does not fit the schema can still be seen and corrected.
    [{ type: 'string' }, 5, 'json'],
    [{ type: ['string', 'null'] }, null, 'json'],
    [{ enum: ['a', 'b'] }, 'c', 'json'],
    // A field would hide such characters, or change them.
    [{ type: 'string' }, 'a\u202eb', 'json'],
    [{ type: 'string' }, 'a\r\nb', 'json'],
    [{}, 'a', 'text'],
    [{}, 5, 'number'],
  ])('%j with %j is edited as %s', (member, value, kind) => {
    expect(kindOf(member, value)).toBe(kind);
  });

  test('are those of the input in its order, and then those that the schema has in addition', () => {
    const fields = fieldsFor(schema({ a: {}, b: { type: 'string' } }, ['b']), { c: 1, b: 'x' });
    expect(fields?.map(({ name, required, kind }) => [name, required, kind])).toEqual([
      ['c', false, 'number'],
      ['b', true, 'text'],
      ['a', false, 'json'],
    ]);
  });

  test('say what the schema asks', () => {
    const member = { type: 'string', format: 'email', maxLength: 80, description: 'Who gets it' };
    expect(fieldsOf(schema({ to: member }))?.[0]).toMatchObject({
      hint: 'email, at most 80 characters',
      description: 'Who gets it',
    });
    const whole = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
    expect(fieldsOf(schema({ n: whole }))?.[0]?.hint).toBe('from 1');
  });

  test('are none for a schema without known members, and for too many', () => {
    expect(fieldsOf({ type: 'object' })).toBeUndefined();
    expect(fieldsOf(schema({ a: {} }) && { ...schema({ a: {} }), oneOf: [] })).toBeUndefined();
    const many = Object.fromEntries(Array.from({ length: 61 }, (_, at) => [`a${at}`, at]));
    expect(fieldsFor({}, many)).toBeUndefined();
  });

  test('give back the input exactly, if nothing is changed', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 20 }), (given) => {
        const input = JSON.parse(JSON.stringify(given)) as JsonObject;
        const fields = fieldsFor(schema({ to: { type: 'string' } }), input) ?? [];
        expect(inputOf(fields, none)).toEqual({ input });
        // Also through the texts of the form and through JSON.
        const texts = new Map(fields.map((field) => [field.name, textIn(field, none)]));
        expect(inputOf(fields, texts)).toEqual({ input });
        const edited = startEdit({}, input);
        const other = toggled(fieldsFor({}, input), edited);
        expect(other && readEdited(undefined, other)).toEqual({ input });
      }),
    );
  });

  test('name what is wrong, each by itself', () => {
    const fields = fieldsFor(
      schema(
        {
          n: { type: 'integer' },
          f: { type: 'number' },
          j: {},
          t: { type: 'string' },
          c: { enum: [1] },
        },
        ['n', 'c', 't'],
      ),
      {},
    );
    const changes = new Map([
      ['n', '1.5'],
      ['f', 'much'],
      ['j', '{'],
    ]);
    const read = inputOf(fields ?? [], changes);
    expect(
      'faults' in read && [...read.faults].map(([name, text]) => [name, text.slice(0, 20)]),
    ).toEqual([
      ['n', 'Expected a whole num'],
      ['f', 'Expected a number.'],
      ['j', 'This is not JSON. Ex'],
      ['c', 'This is required.'],
    ]);
    expect(
      inputOf(
        fields ?? [],
        new Map([
          ['n', '2'],
          ['c', '1'],
          ['f', ' '],
        ]),
      ),
    ).toEqual({
      input: { n: 2, t: '', c: 1 },
    });
  });

  test('can be left out, unless they are required', () => {
    const fields = fieldsFor(schema({ a: { type: 'string' }, b: { type: 'string' } }, ['b']), {
      a: '',
      b: 'x',
    });
    expect(inputOf(fields ?? [], new Map([['a', undefined]]))).toEqual({ input: { b: 'x' } });
    expect(inputOf(fields ?? [], new Map([['a', '']]))).toEqual({ input: { a: '', b: 'x' } });
    expect(inputOf(fields ?? [], new Map([['b', undefined]]))).toMatchObject({
      faults: expect.anything(),
    });
  });
});

describe('an edit', () => {
  test('goes from the form to JSON and back, with what was changed', () => {
    const members = schema({ to: { type: 'string' }, n: { type: 'integer' } });
    const input = { to: 'eve', n: 1 };
    const form = { ...startEdit(members, input), changes: new Map([['to', 'ann']]) };
    const json = toggled(fieldsFor(members, form.base), form);
    expect(json).toMatchObject({ asText: true, text: '{\n  "to": "ann",\n  "n": 1\n}' });
    const more = { ...(json as typeof form), text: '{"to":"bob","more":[1]}' };
    const back = toggled(fieldsFor(members, more.base), more);
    expect(back).toMatchObject({ asText: false, base: { to: 'bob', more: [1] } });
    const fields = fieldsFor(members, back?.base ?? {});
    expect(fields?.map(({ name }) => name)).toEqual(['to', 'more', 'n']);
    expect(back && readEdited(fields, back)).toEqual({ input: { to: 'bob', more: [1] } });
  });

  test.each(['9007199254740993', '1e400', '-1e999', '1e-400', '9007199254740993.0'])(
    'does not send another number than %s',
    (number) => {
      const cannot = { fault: expect.stringContaining('cannot be sent exactly') };
      const text = `{"a":"1e400","n":[${number}]}`;
      expect(readEdited([], { ...startEdit({}, {}), asText: true, text })).toMatchObject(cannot);
      const fields = fieldsFor(schema({ n: { type: 'number' }, j: {} }), {}) ?? [];
      const faults = inputOf(fields, new Map(['n', 'j'].map((name) => [name, number])));
      expect('faults' in faults && [...faults.faults.values()]).toEqual([
        cannot.fault,
        cannot.fault,
      ]);
    },
  );

  test.each(['9007199254740992', '12345678901234567000', '1e21', '0.1', '-0', '0e5', '5.00'])(
    'sends the number %s',
    (number) => {
      const edited = { ...startEdit({}, {}), asText: true, text: `{"n":${number}}` };
      expect(readEdited([], edited)).toEqual({ input: { n: Number(number) } });
    },
  );

  test('stays in the form in which it was typed, whatever schema arrives later', () => {
    const edited = { ...startEdit(undefined, { a: '5' }), changes: new Map([['a', '6']]) };
    expect(readEdited(fieldsFor(edited.schema, edited.base), edited)).toEqual({
      input: { a: '6' },
    });
  });

  test.each(['{', '[]', 'null', '""'])('does not leave %s, which is no input', (text) => {
    const edited = { ...startEdit({}, {}), asText: true, text };
    expect(toggled([], edited)).toBeUndefined();
    expect(readEdited([], edited)).toHaveProperty('fault');
  });
});
