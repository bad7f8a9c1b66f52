/** Whether a new definition of a tool can take the place of an old one. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compareDefinitions, defineTool } from '../../../src/index.ts';

const tool = (more: object = {}) =>
  defineTool({
    name: 'find',
    description: 'Finds.',
    parameters: { type: 'object' },
    handler: () => null,
    ...more,
  } as never);
const input = (properties: object, required: string[] = []) =>
  tool({ parameters: { type: 'object', properties, required } });
const output = (schema: object) => tool({ outputSchema: schema });
const told = (a: never, b: never) => {
  const { compatible, changes } = compareDefinitions(a, b);
  return [compatible, ...changes.map(({ path, message }) => `${path} ${message}`)];
};
const compare = (a: unknown, b: unknown) => told(a as never, b as never);

describe('compareDefinitions', () => {
  it('finds nothing in a definition without changes', () => {
    expect(compare(tool(), tool({ handler: () => 1, version: '2.0.0' }))).toEqual([true]);
  });

  it('accepts an input that was widened, and no input that was narrowed', () => {
    const [short, long] = [
      input({ q: { type: 'string', maxLength: 5 } }),
      input({ q: { type: 'string', maxLength: 9 } }),
    ];
    const place = 'parameters.properties.q';
    expect(compare(short, long)).toEqual([true, `${place} \`maxLength\` was 5 and is 9`]);
    expect(compare(long, short)).toEqual([false, `${place} \`maxLength\` was 9 and is 5`]);
    expect(
      compare(input({ a: { type: 'string' } }), input({ a: { type: 'string' } }, ['a'])),
    ).toEqual([false, 'parameters.properties.a is required now']);
    expect(compareDefinitions(long, short).changes[0]?.kind).toBe('narrowed');
  });

  it('accepts an output that was narrowed, and no output that was widened', () => {
    const [any, text] = [output({ type: ['string', 'null'] }), output({ type: 'string' })];
    expect(compare(any, text)[0]).toBe(true);
    expect(compare(text, any)).toEqual([
      false,
      'outputSchema `type` was "string" and is ["null","string"]',
    ]);
    expect(compare(tool(), text)[0]).toBe(true);
    expect(compare(text, tool())[0]).toBe(false);
  });

  it('accepts nothing that it cannot decide', () => {
    const { compatible, changes } = compareDefinitions(
      input({ q: { type: 'string', pattern: 'a' } }),
      input({ q: { type: 'string', pattern: 'b' } }),
    );
    expect([compatible, changes.map(({ kind }) => kind)]).toEqual([false, ['undecided']]);
  });

  it('reads the schemas of other libraries', () => {
    const of = (parameters: z.ZodObject) => tool({ parameters });
    const kind = z.enum(['a', 'b']);
    expect(
      compare(
        of(z.strictObject({ kind })),
        of(z.strictObject({ kind: kind.optional(), n: z.int().optional() })),
      )[0],
    ).toBe(true);
    expect(compare(of(z.object({ kind })), of(z.object({ kind: z.enum(['a']) })))).toEqual([
      false,
      'parameters.properties.kind no longer accepts "b"',
    ]);
  });

  it('it reports hints, approval, facts, names and texts', () => {
    expect(compare(tool({ annotations: { readOnly: true } }), tool())).toEqual([
      false,
      'annotations.readOnly was true and is false',
    ]);
    expect(compare(tool({ annotations: { destructive: true } }), tool())[0]).toBe(true);
    expect(compare(tool(), tool({ requiresApproval: true }))).toEqual([
      false,
      'requiresApproval asked never and asks always',
    ]);
    expect(
      compare(tool({ requiresApproval: true }), tool({ requiresApproval: () => true }))[0],
    ).toBe(true);
    expect(compare(tool(), tool({ requires: [{ fact: 'open', equals: true }] }))).toEqual([
      false,
      'requires requires {"equals":true,"fact":"open"} now',
    ]);
    expect(compare(tool(), tool({ name: 'search' }))[0]).toBe(false);
    expect(compare(tool(), tool({ description: 'Finds it.' }))).toEqual([
      true,
      'description was "Finds." and is "Finds it."',
    ]);
    expect(
      compare(
        tool(),
        tool({ policy: { knobs: { type: 'object', properties: { n: { type: 'number' } } } } }),
      )[0],
    ).toBe(true);
  });

  it('it reports a change once, in however many ways a schema is reached', () => {
    const of = (more: object) =>
      tool({
        parameters: {
          type: 'object',
          properties: { q: { allOf: [{ $ref: '#/$defs/q' }, { $ref: '#/$defs/q' }] } },
          $defs: { q: { type: 'string', ...more } },
        },
      });
    expect(compare(of({}), of({ maxLength: 9 }))).toEqual([
      false,
      'parameters.properties.q `maxLength` was not set and is 9',
    ]);
  });

  it('gives up on long values as on large schemas', () => {
    const tooLarge = [false, 'parameters is too large to compare'];
    const long = Array.from({ length: 10 }, (_, index) => `${'v'.repeat(40_000)}${index}`);
    const sizes = Array.from({ length: 300 }, (_, index) => ({ minLength: 50_000 + index }));
    const [texts, lengths] = [input({ a: { enum: long } }), input({ a: { anyOf: sizes } })];
    expect(compare(texts, lengths).slice(0, 2)).toEqual(tooLarge);

    const branch = (kind: number, more: object) => ({
      type: 'object',
      required: ['kind'],
      properties: { kind: { enum: long.map((text) => `${kind}${text}`) }, ...more },
    });
    const kinds = (more: object) => Array.from({ length: 20 }, (_, kind) => branch(kind, more));
    expect(
      compare(
        input({ a: { oneOf: kinds({}) } }),
        input({ a: { oneOf: kinds({ b: { type: 'string' } }) } }),
      ),
    ).toEqual(tooLarge);
  });

  it('refuses what is no definition', () => {
    expect(() => compareDefinitions({} as never, tool())).toThrow('defineTool()');
  });
});
