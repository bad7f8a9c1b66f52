/** What a program may call, as TypeScript. */
import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry, type JsonObject } from '../../../src/index.ts';
import { TypeText } from '../../../src/parts/code/type-text.ts';

/** What TypeScript says about a text. */
function faults(text: string): readonly string[] {
  const name = 'declared.ts';
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
  const host: ts.CompilerHost = {
    getSourceFile: (file) => (file === name ? source : undefined),
    getDefaultLibFileName: () => 'lib.d.ts',
    writeFile: () => {},
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (file) => file,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    fileExists: (file) => file === name,
    readFile: () => undefined,
  };
  const program = ts.createProgram([name], { noLib: true, noEmit: true, strict: true }, host);
  return [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** The built-in types that declarations use. */
const lib =
  'interface Promise<T> { then(done: (value: T) => void): void }\ninterface Array<T> {}\n';

function declared(
  all: readonly {
    name: string;
    description?: string;
    parameters?: JsonObject;
    output?: JsonObject;
  }[],
  code: object = {},
): string {
  const registry = new HostToolRegistry();
  for (const { name, description = 'A tool.', parameters = { type: 'object' }, output } of all)
    registry.register(
      defineTool({
        name,
        description,
        parameters,
        ...(output === undefined ? {} : { outputSchema: output }),
        handler: () => ({}),
      } as never),
    );
  return registry.createSession({ sessionId: 's', code }).declarations();
}

test('each tool is a function, with its description and those of its parameters', () => {
  const text = declared([
    {
      name: 'search_orders',
      description: 'Finds orders.\nNewest first.',
      parameters: {
        type: 'object',
        properties: {
          customer: { type: 'string', description: 'Whose orders.' },
          status: { enum: ['open', 'paid', null] },
          limit: { type: 'integer' },
          tags: { type: 'array', items: { type: ['string', 'number'] } },
        },
        required: ['customer'],
        additionalProperties: false,
      },
      output: {
        type: 'array',
        items: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
      },
    },
    { name: 'files.list' },
  ]);
  expect(text).toBe(`declare const tools: {
  /**
   * Finds orders.
   * Newest first.
   */
  search_orders(input: {
    /** Whose orders. */
    customer: string;
    status?: "open" | "paid" | null;
    limit?: number;
    tags?: (string | number)[];
  }): Promise<{
    id: number;
  }[]>;
  /** A tool. */
  "files.list"(input?: { [name: string]: unknown }): Promise<unknown>;
  /** Waits. */
  sleep(ms: number): Promise<null>;
  /** Declarations of tools, found by what they do. */
  find(query: string): Promise<string>;
};
`);
  expect(faults(lib + text)).toEqual([]);
});

describe('no text leaves its place', () => {
  test.each([
    '*/ evil(): void; /**',
    '/ at the start',
    'a\n*/\nevil(): void;',
    'a\u2028*/ b',
    '* /',
    '**/',
    '\u202Ereversed',
    'a\r\n/ b',
    '`${1}`',
  ])('as a description: %j', (description) => {
    const text = declared([
      {
        name: 'a',
        description,
        parameters: {
          type: 'object',
          properties: { [description]: { type: 'string', description } },
        },
      },
    ]);
    expect(faults(lib + text)).toEqual([]);
    // The text adds no member: `a`, `sleep` and `find` are all there are.
    const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.ES2022, true);
    const [statement] = source.statements;
    expect(source.statements).toHaveLength(1);
    const { type } = (statement as ts.VariableStatement).declarationList
      .declarations[0] as ts.VariableDeclaration;
    expect((type as ts.TypeLiteralNode).members.map((one) => one.name?.getText())).toEqual([
      'a',
      'sleep',
      'find',
    ]);
    expect(text).not.toMatch(/[\u2028\u2029\u202A-\u202E]/);
  });

  test('whatever the schema is, the declarations compile', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('*/', '__proto__', 'a b', '"', '\\', '\n'));
    const schema = fc.letrec<{ any: JsonObject }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null') }),
        fc.record({ enum: fc.array(fc.oneof(word, fc.integer(), fc.constant(null))) }),
        fc.record({ const: fc.jsonValue() }),
        fc.record({ type: fc.constant('array'), items: tie('any') }),
        fc.record({ type: fc.constant('array'), prefixItems: fc.array(tie('any')) }),
        fc.record({ anyOf: fc.array(tie('any')) }),
        fc.record({ allOf: fc.array(tie('any')) }),
        fc.record({
          type: fc.constant('object'),
          description: word,
          properties: fc.dictionary(word, tie('any')),
          additionalProperties: fc.oneof(fc.boolean(), tie('any')),
        }),
        fc.record({ $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/b', 'http://x') }),
      ) as never,
    })).any;
    fc.assert(
      fc.property(schema, (given) => {
        const text = `type T = ${new TypeText(given).write('')};\n`;
        expect(faults(lib + text)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

test('a schema that refers to itself is written out once', () => {
  const tree: JsonObject = {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    $defs: {
      node: {
        type: 'object',
        properties: { next: { $ref: '#/$defs/node' }, name: { type: 'string' } },
      },
    },
  };
  expect(new TypeText(tree).write('')).toBe(
    '{\n  root?: {\n    next?: unknown;\n    name?: string;\n  };\n}',
  );
});

test('what has no room is found by a search', () => {
  const many = Array.from({ length: 200 }, (_, n) => ({ name: `tool_${n}` }));
  const text = declared(many, { maxDeclarationTokens: 500 });
  expect(text.length).toBeLessThanOrEqual(2_000);
  const [, left] = /(\d+) more tools can be called once they were found/.exec(text) ?? [];
  expect(Number(left)).toBe(200 - (text.match(/tool_\d+/g)?.length ?? 0));
});
