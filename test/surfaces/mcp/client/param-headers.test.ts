/**
 * The headers that repeat arguments: those that the SDK's own client sends, for whatever arguments.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  defineTool,
  HostToolRegistry,
  type JsonObject,
  jsonSchema,
} from '../../../../src/index.ts';
import { checkHeaders, paramHeaders } from '../../../../src/surfaces/mcp/client/param-headers.ts';
import { importMcpTools } from '../../../../src/surfaces/mcp/index.ts';
import { paramHeaderMismatch } from '../../../../src/surfaces/mcp/server/param-headers.ts';
import { listen, opened } from '../server/kit.ts';

const marked = (type: string, header: unknown = 'A', more: object = {}): JsonObject =>
  ({ type, 'x-mcp-header': header, ...more }) as JsonObject;
const over = (properties: object): JsonObject => ({ type: 'object', properties }) as JsonObject;

test.each<[string, JsonObject, JsonObject, Record<string, string>]>([
  ['a text', over({ a: marked('string') }), { a: 'eu west' }, { 'Mcp-Param-A': 'eu west' }],
  [
    'a number and a boolean',
    over({ a: marked('integer'), b: marked('boolean', 'B') }),
    { a: 42, b: false },
    { 'Mcp-Param-A': '42', 'Mcp-Param-B': 'false' },
  ],
  [
    'an argument inside another',
    over({ o: over({ a: marked('string') }) }),
    { o: { a: 'x' } },
    { 'Mcp-Param-A': 'x' },
  ],
  [
    'no argument, no header',
    over({ a: marked('string'), b: marked('string', 'B') }),
    { b: null },
    {},
  ],
  ['an empty text', over({ a: marked('string') }), { a: '' }, { 'Mcp-Param-A': '=?base64??=' }],
  [
    'a text with spaces around it',
    over({ a: marked('string') }),
    { a: ' x' },
    { 'Mcp-Param-A': '=?base64?IHg=?=' },
  ],
  [
    'a line break',
    over({ a: marked('string') }),
    { a: 'x\r\nevil: 1' },
    { 'Mcp-Param-A': '=?base64?eA0KZXZpbDogMQ==?=' },
  ],
  [
    'a text that looks like an encoded one',
    over({ a: marked('string') }),
    { a: '=?base64?eA==?=' },
    { 'Mcp-Param-A': '=?base64?PT9iYXNlNjQ/ZUE9PT89?=' },
  ],
  ['a number that is rounded', over({ a: marked('integer') }), { a: 2 ** 60 }, {}],
  ['a list', over({ a: marked('string') }), { a: ['x'] }, {}],
  [
    'a name that is none',
    over({ a: marked('string', 'A\r\nevil'), b: marked('string', 'B') }),
    { a: 'x', b: 'y' },
    {},
  ],
  ['a type that the protocol has not', over({ a: marked('number') }), { a: 1 }, {}],
  [
    'two marks of one name',
    over({ a: marked('string'), b: marked('string', 'a') }),
    { a: 'x', b: 'y' },
    {},
  ],
  ['an inherited member is no argument', over({ toString: marked('string') }), {}, {}],
])('%s', (_, schema, input, expected) => {
  expect(paramHeaders(schema, input)).toEqual(expected);
});

test('agree with the body, whatever the arguments are', () => {
  const schema = over({
    a: marked('string'),
    b: marked('integer', 'B'),
    o: over({ c: marked('boolean', 'C') }),
  });
  const some = fc.record(
    {
      a: fc.string({ unit: 'grapheme' }),
      b: fc.integer(),
      o: fc.record({ c: fc.boolean() }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(some, (input) => {
      expect(
        paramHeaderMismatch(schema, input, new Headers(paramHeaders(schema, input as JsonObject))),
      ).toBeUndefined();
    }),
  );
});

test('are sent with a call in the 2026 era, whose server compares them with the body', async () => {
  const open = opened();
  try {
    const seen: (string | null)[] = [];
    const registry = new HostToolRegistry();
    const parameters = jsonSchema(over({ region: marked('string', 'Region') }));
    registry.register(
      defineTool({
        name: 'query',
        description: 'Queries.',
        parameters,
        handler: (input) => JSON.stringify(input),
      }),
    );
    const { url } = await listen(
      open,
      () => registry.createSession({ sessionId: 's' }),
      {},
      (handler) => ({
        fetch(request) {
          if (request.headers.get('mcp-method') === 'tools/call')
            seen.push(request.headers.get('mcp-param-region'));
          return handler.fetch(request);
        },
      }),
    );
    const imported = await importMcpTools({ url });
    open.defer(() => imported.close());
    const host = new HostToolRegistry();
    host.registerAll(imported.tools);
    expect(
      await host.createSession({ sessionId: 'h' }).call('query', { region: ' Zürich' }),
    ).toMatchObject({
      success: true,
      output: [{ text: '{"region":" Zürich"}' }],
    });
    expect(seen).toEqual(['=?base64?IFrDvHJpY2g=?=']);
  } finally {
    await open.close();
  }
});

test.each([
  ['a number', over({ a: marked('number') }), 'no string, integer or boolean'],
  ['one name twice', over({ a: marked('string'), b: marked('string', 'a') }), 'two parameters'],
  ['a name with a blank', over({ a: marked('string', 'a b') }), 'not the name of a header'],
])('a mark on %s: the tool is refused, and others are not', (_what, inputSchema, why) => {
  expect(() => checkHeaders({ name: 'a', inputSchema })).toThrow(why);
  expect(() => checkHeaders({ name: 'b', inputSchema: over({}) })).not.toThrow();
});
