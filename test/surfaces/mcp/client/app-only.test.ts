/** Whom an imported tool is for (MCP Apps): no model sees or calls one that is only for an app. */
import { afterEach, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../../src/index.ts';
import { tool } from './raw-http.ts';
import { brief, closeAll, imports, serve, sessionOver } from './world.ts';

afterEach(closeAll);

const withMeta = (name: string, _meta: unknown): object => tool(name, { _meta });
const seen = (name: string, visibility: unknown): object =>
  withMeta(name, { ui: { resourceUri: 'ui://charts/main', visibility } });

describe('whom a tool is for', () => {
  test.each<[string, unknown]>([
    ['nothing said', undefined],
    ['the model', { ui: { visibility: ['model'] } }],
    ['both', { ui: { visibility: ['model', 'app'] } }],
    ['both, in another order and with more', { ui: { visibility: ['app', 7, 'model', 'x'] } }],
    ['the model, as a text', { ui: { visibility: 'model' } }],
    ['a page only', { ui: { resourceUri: 'ui://charts/main' } }],
    ['no object of the extension', { ui: null }],
    ['a list instead of an object', { ui: ['app'] }],
    ['no object at all', 'app'],
    ['another key', { visibility: ['app'] }],
    ['everybody, by the key of the Apps SDK', { 'openai/visibility': 'public' }],
  ])('a tool is imported: %s', async (_, meta) => {
    const imported = await imports(await serve([withMeta('one', meta)]));
    expect([imported.tools.map(({ name }) => name), imported.appOnly]).toEqual([['one'], []]);
  });

  test.each<[string, unknown]>([
    ['nobody', []],
    ['somebody unknown', ['admin']],
    ['another spelling', ['Model', 'MODEL ', 'models']],
    ['a list in a list', [['model']]],
    ['both, as one text', 'model,app'],
    ['null', null],
    ['a number', 1],
    ['true', true],
    ['an object', { model: true }],
  ])('a tool is left out and named: %s', async (_, visibility) => {
    const imported = await imports(await serve([seen('one', visibility), tool('two')]));
    expect([imported.tools.map(({ name }) => name), imported.appOnly, imported.failed]).toEqual([
      ['two'],
      ['one'],
      [],
    ]);
    expect([imported.found('one'), imported.drift, Object.keys(imported.pins)]).toEqual([
      undefined,
      [],
      ['two'],
    ]);
  });
});

test.each<[string, unknown]>([
  ['the app', ['app']],
  ['the app, twice, and somebody else', ['app', 'app', 'admin']],
  ['the app, as a text', 'app'],
])('a tool is imported, named, and hidden from models: %s', async (_, visibility) => {
  const imported = await imports(await serve([seen('one', visibility), tool('two')]));
  expect([imported.tools.map(({ name }) => name), imported.appOnly]).toEqual([
    ['one', 'two'],
    ['one'],
  ]);
  expect(
    sessionOver(imported)
      .tools()
      .map(({ name }) => name),
  ).toEqual(['two']);
});

test('the key of the Apps SDK hides a tool as well, whatever the other key says', async () => {
  const hidden = { 'openai/visibility': 'private', 'openai/widgetAccessible': true };
  const both = { ...hidden, ui: { visibility: ['model', 'app'] } };
  const imported = await imports(
    await serve([withMeta('one', hidden), withMeta('two', both), tool('three')]),
  );
  expect([
    sessionOver(imported)
      .tools()
      .map(({ name }) => name),
    imported.appOnly,
  ]).toEqual([['three'], ['one', 'two']]);
});

test('no way to see or to call tools leads to it', async () => {
  const server = await serve([seen('renew_token', ['app']), seen('show_chart', ['model', 'app'])]);
  const registry = new HostToolRegistry();
  const session = sessionOver(await imports(server), registry);
  const finder = registry.createSession({ sessionId: 'f', discovery: { maxTokens: 1 } });
  const batch = await session.executeBatch([{ id: '1', name: 'renew_token', arguments: {} }]);
  const results = [
    await session.call('renew_token', {}),
    await session.call('renew_tokn', {}),
    ...batch.results.map(({ result }) => result),
    await finder.call('find_tools', { query: 'renew the token' }),
  ];
  expect(results.map(brief)).toEqual([
    ['tool_not_found'],
    ['tool_not_found'],
    ['tool_not_found'],
    expect.anything(),
  ]);
  const told = JSON.stringify([
    session.tools(),
    session.effectiveTools().names,
    await session.search('renew_token'),
    results.slice(1, 2),
    results.slice(3),
  ]);
  expect(told).not.toContain('renew_token');
  expect(told).toContain('show_chart');
  expect(server.received.filter(({ method }) => method === 'tools/call')).toEqual([]);
});

test('a tool that becomes one is withdrawn, and is no suggestion for another name', async () => {
  const server = await serve([tool('renew_token'), tool('show_chart')]);
  const imported = await imports(server);
  const session = sessionOver(imported);
  server.tools = [seen('renew_token', ['app']), tool('show_chart')];
  await imported.refresh();
  expect(session.tools().map(({ name }) => name)).toEqual(['show_chart']);
  expect(brief(await session.call('renew_token', {}))).toEqual([
    'tool_not_available',
    'definition_changed',
  ]);
  const other = await session.call('renew_tokn', {});
  expect(other.error?.message).not.toContain('renew_token');
  expect(imported.drift).toEqual([
    {
      name: 'renew_token',
      pinned: imported.pins.renew_token,
      found: imported.found('renew_token')?.fingerprint,
    },
  ]);
});

test('one that is pinned stays withdrawn, and one for models stays new until it is accepted', async () => {
  const server = await serve([tool('one'), seen('two', ['app'])]);
  const { pins } = await imports(server);
  server.tools = [seen('one', ['app']), tool('two')];
  const again = await imports(server, { pins });
  expect([again.tools, again.drift.map(({ name }) => name)]).toEqual([[], ['one', 'two']]);
});
