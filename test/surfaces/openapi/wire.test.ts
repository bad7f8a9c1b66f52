/** What goes over the wire: how each argument is written, and what never leaves. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { importOpenApi } from '../../../src/surfaces/openapi/index.ts';
import { json, orders, startServer, withOperation } from './orders.ts';

/** Calls an operation, and says how its request arrived. */
async function sent(document: object, input: object) {
  const { url, seen } = await startServer();
  const registry = new HostToolRegistry();
  const imported = await importOpenApi(document, { registry, server: url });
  expect(imported.failed).toEqual([]);
  const session = registry.createSession({ sessionId: 's' });
  const { error } = await session.call('op', input);
  const [first] = seen;
  return { error, seen, url: first?.url, body: first?.body, headers: first?.headers };
}

const list = { type: 'array', items: { type: 'string' } };
const object = { type: 'object' };

test.each([
  // style, explode, value, what is sent
  [{ schema: list }, ['a', 'b,c'], 'p=a&p=b%2Cc'],
  [{ schema: list, explode: false }, ['a', 'b,c'], 'p=a,b%2Cc'],
  [{ schema: list, explode: false }, [], ''],
  [{ schema: list, style: 'spaceDelimited', explode: false }, ['a', 'b'], 'p=a%20b'],
  [{ schema: list, style: 'pipeDelimited', explode: false }, ['a', 'b'], 'p=a%7Cb'],
  [{ schema: object }, { x: 1, y: true }, 'x=1&y=true'],
  [{ schema: object, explode: false }, { x: 1, y: 'z' }, 'p=x,1,y,z'],
  [
    { schema: object, style: 'deepObject' },
    { x: 1, y: { z: 'w' } },
    'p%5Bx%5D=1&p%5By%5D%5Bz%5D=w',
  ],
  [{ schema: { type: 'string' } }, 'a/b?c#d&e=f', 'p=a%2Fb%3Fc%23d%26e%3Df'],
  [{ schema: { type: 'string' }, allowReserved: true }, 'a/b?c#d&e=f', 'p=a/b?c%23d%26e%3Df'],
  [{ schema: { type: 'string' } }, '', 'p='],
  [{ content: { 'application/json': { schema: {} } } }, { a: [1] }, 'p=%7B%22a%22%3A%5B1%5D%7D'],
] as const)('a query: %j %j', async (parameter, value, query) => {
  const document = withOperation({ parameters: [{ name: 'p', in: 'query', ...parameter }] });
  expect((await sent(document, { p: value })).url).toBe(query === '' ? '/op' : `/op?${query}`);
});

test.each([
  [{ schema: list }, ['a', 'b/c'], 'a,b%2Fc'],
  [{ schema: object }, { x: 1 }, 'x,1'],
  [{ schema: object, explode: true }, { x: 1, y: 2 }, 'x=1,y=2'],
  [{ schema: { type: 'integer' } }, -3, '-3'],
] as const)('a path: %j %j', async (parameter, value, path) => {
  const document = withOperation(
    { parameters: [{ name: 'p', in: 'path', required: true, ...parameter }] },
    '/op/{p}/x',
  );
  expect((await sent(document, { p: value })).url).toBe(`/op/${path}/x`);
});

test('a form is written by its encoding, and a text as it is', async () => {
  const body = (type: string, media: object) =>
    withOperation({ requestBody: { content: { [type]: media } } }, '/op', 'post');
  const form = await sent(
    body('application/x-www-form-urlencoded', {
      schema: { type: 'object' },
      encoding: {
        meta: { style: 'deepObject', explode: true },
        raw: { contentType: 'application/json' },
      },
    }),
    { body: { a: 'b c', list: ['1', '2'], meta: { k: 'v' }, raw: { n: [1] } } },
  );
  expect(form.body).toBe('a=b%20c&list=1&list=2&meta%5Bk%5D=v&raw=%7B%22n%22%3A%5B1%5D%7D');
  expect(form.headers?.['content-type']).toBe('application/x-www-form-urlencoded');
  const text = await sent(body('text/x-markdown', {}), { body: '# ü' });
  expect([text.body, text.headers?.['content-type']]).toEqual(['# ü', 'text/x-markdown']);
});

test('parameters of one name are told apart by their places, and a body is the body', async () => {
  const at = (place: string) => ({
    name: 'id',
    in: place,
    required: place === 'path',
    schema: { type: 'string' },
  });
  const document = withOperation(
    {
      parameters: [
        at('path'),
        at('query'),
        at('header'),
        { name: 'body', in: 'query', schema: { type: 'string' } },
      ],
      requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
    },
    '/op/{id}',
    'post',
  );
  const got = await sent(document, {
    path_id: 'p',
    query_id: 'q',
    header_id: 'h',
    query_body: 'b',
    body: { x: 1 },
  });
  expect([got.url, got.headers?.id, got.body]).toEqual(['/op/p?id=q&body=b', 'h', '{"x":1}']);
});

test.each([
  ['', 'must not be empty'],
  ['.', 'must not be `.` or `..`'],
  ['..', 'must not be `.` or `..`'],
  ['../admin', 'must not be `.` or `..`'],
  ['a/../../admin', 'must not be `.` or `..`'],
  ['..\\admin', 'must not be `.` or `..`'],
  ['%2e%2e', 'must not be `.` or `..`'],
  ['%252e%252e%252fadmin', 'must not be `.` or `..`'],
  ['..;', 'must not be `.` or `..`'],
  ['..;a=b/../admin', 'must not be `.` or `..`'],
  ['..%3b', 'must not be `.` or `..`'],
  ['a\0b', 'control characters'],
  ['..\0', 'control characters'],
  ['a%2500.json', 'control characters'],
  ['a\r\nHost: x', 'control characters'],
])('the path argument %j is refused before anything is sent', async (id, why) => {
  const { url, seen } = await startServer();
  const registry = new HostToolRegistry();
  await importOpenApi(orders, { registry, server: url });
  const session = registry.createSession({ sessionId: 's' });
  const { error } = await session.call('readNote', { orderId: id });
  expect(error).toMatchObject({ code: 'handler_error', reason: 'http_argument' });
  expect(error?.message).toContain(why);
  expect(seen).toEqual([]);
});

test('two parts of a path do not become `..` together', async () => {
  const part = (name: string) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  });
  const document = withOperation({ parameters: [part('a'), part('b')] }, '/op/{a}{b}/x');
  const { error, seen } = await sent(document, { a: '.', b: '.' });
  expect([error?.reason, seen]).toEqual(['http_argument', []]);
});

test.each([
  ['header', { schema: { type: 'string' } }, 'a\r\nx-admin: 1'],
  ['header', { schema: { type: 'string' } }, 'ü'],
  ['query', { schema: {} }, null],
  ['query', { schema: list }, undefined],
  ['query', { schema: {} }, [['a']]],
  ['query', { schema: { type: 'object' }, style: 'deepObject' }, { a: ['b'] }],
] as const)('%s %j %j is not sent', async (place, parameter, value) => {
  const document = withOperation({
    parameters: [{ name: 'p', in: place, ...parameter }],
  });
  const { error, seen } = await sent(document, { p: value === undefined ? [null] : value });
  expect(seen).toEqual([]);
  expect(['http_argument', undefined]).toContain(error?.reason);
  expect(['handler_error', 'invalid_input']).toContain(error?.code);
});

test.each([
  [{}, 'admin', { admin: true }],
  [{ style: 'spaceDelimited', explode: true }, 'admin', { admin: true }],
  [{ style: 'deepObject' }, 'filter[admin]', { admin: true }],
])('an object in the query brings no other parameter: %j', async (style, name, filter) => {
  const document = withOperation({
    parameters: [
      { name: 'filter', in: 'query', schema: { type: 'object' }, ...style },
      { name, in: 'query', schema: { type: 'boolean', enum: [false] } },
    ],
  });
  const { error, seen } = await sent(document, { filter });
  expect([error?.reason, seen]).toEqual(['http_argument', []]);
});

test('an object in a form brings no other field', async () => {
  const schema = {
    type: 'object',
    properties: { admin: { enum: [false] }, meta: { type: 'object' } },
  };
  const document = withOperation(
    { requestBody: { content: { 'application/x-www-form-urlencoded': { schema } } } },
    '/op',
    'post',
  );
  const { error, seen } = await sent(document, { body: { meta: { admin: true } } });
  expect([error?.reason, seen]).toEqual(['http_argument', []]);
});

test('an answer to HEAD has no body', async () => {
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } };
  const { error, seen } = await sent(withOperation({ responses }, '/op', 'head'), {});
  expect([error, seen[0]?.method]).toEqual([undefined, 'HEAD']);
});

test('a wrong argument never reaches the wire, and a right one arrives as it is', async () => {
  const { url, seen } = await startServer((_, response) => json(response, { id: 'x', item: 'y' }));
  const registry = new HostToolRegistry();
  await importOpenApi(orders, { registry, server: url });
  const session = registry.createSession({ sessionId: 's' });
  const right = fc.record(
    {
      item: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      amount: fc.integer({ min: 1, max: 1e9 }),
      note: fc.option(fc.string({ unit: 'grapheme', maxLength: 20 })),
    },
    { requiredKeys: ['item'] },
  );
  const id = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
    .filter((text) => !/[.%\\/]/.test(text) && text.trim() !== '');
  await fc.assert(
    fc.asyncProperty(id, right, async (orderId, body) => {
      seen.length = 0;
      await session.call('replaceOrder', { orderId, body });
      expect(seen).toHaveLength(1);
      const [{ url: path, body: text } = { url: '', body: '' }] = seen;
      expect(decodeURIComponent(path.slice('/orders/'.length))).toBe(orderId);
      expect(JSON.parse(text)).toEqual(body);
    }),
    { numRuns: 100 },
  );
  const wrong = fc.oneof(
    fc.record({ item: fc.constant('') }),
    fc.record({ item: fc.oneof(fc.integer(), fc.boolean(), fc.constant(null)) }),
    fc.record({ item: fc.constant('a'), amount: fc.oneof(fc.integer({ max: 0 }), fc.string()) }),
    fc.record({ item: fc.constant('a'), note: fc.oneof(fc.integer(), fc.array(fc.string())) }),
    // The server gives the id, and the schema is closed.
    fc.record({ item: fc.constant('a'), id: fc.string() }),
    fc.record({ item: fc.constant('a'), parts: fc.constant([{ item: 7 }]) }),
    fc.oneof(fc.string(), fc.array(fc.anything()), fc.constant({})),
  );
  seen.length = 0;
  await fc.assert(
    fc.asyncProperty(wrong, async (body) => {
      const { error } = await session.call('replaceOrder', { orderId: '7', body });
      expect(error?.code).toBe('invalid_input');
    }),
    { numRuns: 100 },
  );
  for (const input of [{}, { orderId: '7' }, { orderId: 7, body: { item: 'a' } }])
    expect((await session.call('replaceOrder', input)).error?.code).toBe('invalid_input');
  expect(seen).toEqual([]);
});
