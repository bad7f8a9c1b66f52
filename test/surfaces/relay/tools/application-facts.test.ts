/** The declarations of an application become facts, which tools of the host can require. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stateOf } from '../../../../src/core/session/session.ts';
import {
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type JsonValue,
  type ToolSession,
} from '../../../../src/index.ts';
import { createRelay } from '../../../../src/surfaces/relay/index.ts';
import { learnApplication } from '../../../../src/surfaces/relay/tools/relayed-tool.ts';

function factsAfter(...registrations: readonly JsonValue[][]): object {
  const session = new HostToolRegistry().createSession({
    sessionId: 's',
    facts: { 'host.ready': true },
  });
  for (const capabilities of registrations) learnApplication(session, capabilities);
  return { ...stateOf(session).facts };
}
const host = { 'host.ready': true };

describe('the facts of an application', () => {
  test.each<[JsonValue[], object]>([
    [['storage'], { storage: true }],
    [[{ type: 'storage' }], { storage: true }],
    [[{ type: 'storage', level: 'full', permissions: ['read'] }], { storage: 'full' }],
    [['storage', { type: 'storage', level: 'full' }], { storage: 'full' }],
    [
      [
        { type: 'storage', level: 'full' },
        { type: 'storage', level: 'none' },
      ],
      { storage: 'full' },
    ],
    [[{ type: 'storage', level: null }], { storage: true }],
    [[{ level: 'full' }, 5, null, [], '', 'with space', 'a.b'], {}],
    [[{ type: 'x'.repeat(200) }, 'y'.repeat(200)], {}],
    [
      ['constructor', '__proto__', 'hasOwnProperty'],
      { constructor: true, ['__proto__']: true, hasOwnProperty: true },
    ],
  ])('come from the capabilities %j', (capabilities, facts) => {
    expect(factsAfter(capabilities)).toEqual({
      ...host,
      ...Object.fromEntries(
        Object.entries(facts).map(([name, value]) => [`app.capabilities.${name}`, value]),
      ),
    });
  });

  test('are only those of the last registration', () => {
    expect(factsAfter(['storage', 'draw'], [{ type: 'draw', level: 'full' }])).toEqual({
      ...host,
      'app.capabilities.draw': 'full',
    });
    expect(factsAfter(['storage'], [])).toEqual(host);
  });

  test('are at most 64, and no declaration can change another fact', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.jsonValue())), (capabilities) => {
        const { 'host.ready': ready, ...facts } = factsAfter(capabilities as JsonValue[]) as Record<
          string,
          unknown
        >;
        expect(ready).toBe(true);
        expect(Object.keys(facts).length).toBeLessThanOrEqual(64);
        for (const name of Object.keys(facts)) expect(name).toMatch(/^app\.capabilities\./);
      }),
    );
  });
});

describe('a fact that the host has set', () => {
  const key = 'app.capabilities.admin';
  const factOf = (session: ToolSession) => stateOf(session).facts[key];
  const create = (facts: JsonObject) =>
    new HostToolRegistry().createSession({ sessionId: 's', facts });

  test.each([false, 'none', true])('stays %j, whatever is declared', (value) => {
    const session = create({ [key]: value });
    for (const capabilities of [['admin'], [{ type: 'admin', level: 'full' }], []]) {
      learnApplication(session, capabilities);
      expect(factOf(session)).toBe(value);
    }
  });

  test('later replaces a declared one, even with the same value', () => {
    const session = create({});
    learnApplication(session, ['admin']);
    session.setFacts({ [key]: true });
    learnApplication(session, []);
    expect(factOf(session)).toBe(true);
    session.setFacts({ [key]: false });
    learnApplication(session, ['admin']);
    expect(factOf(session)).toBe(false);
  });

  test('and deleted again can be declared by an application', () => {
    const session = create({ [key]: false });
    session.setFacts({ [key]: null });
    learnApplication(session, ['admin']);
    expect(factOf(session)).toBe(true);
    learnApplication(session, []);
    expect(factOf(session)).toBeUndefined();
  });

  test('is kept by a relay when an application registers', async () => {
    const seen: unknown[] = [];
    const relay = createRelay({
      session: {
        facts: { [key]: false },
        policies: [
          {
            id: 'sees-facts',
            check: (call) => {
              seen.push(call.facts[key]);
              return { effect: 'allow' };
            },
          },
        ],
        tools: [
          defineTool({
            name: 'look',
            description: 'Looks.',
            parameters: { type: 'object' },
            handler: () => 'done',
          }),
        ],
      },
    });
    const ask = async (path: string, token: string, body: object) => {
      const response = await relay.fetch(
        new Request(`http://relay.test/api/sessions${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
          body: JSON.stringify(body),
        }),
      );
      // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
      return (await response.json()) as any;
    };
    const { code, sessionToken, agentToken } = await ask('', 'none', {});
    await ask(`/${code}/register-tools`, sessionToken, {
      pluginType: 'custom',
      capabilities: ['admin'],
      availableTools: [{ name: 'draw', description: 'Draws.', parameters: { type: 'object' } }],
    });
    const { result } = await ask(`/${code}/request`, agentToken, { tool: 'look' });
    expect([result.success, seen]).toEqual([true, [false]]);
    await relay.close();
  });
});

test('a tool that requires a capability is listed only while the application declares it', async () => {
  const export_ = defineTool({
    name: 'export_document',
    description: 'Exports the open document.',
    parameters: { type: 'object' },
    requires: [{ fact: 'app.capabilities.export', in: ['pdf'] }],
    handler: () => 'done',
  });
  const relay = createRelay({ session: { tools: [export_] } });
  const ask = async (path: string, token: string, body?: object) => {
    const response = await relay.fetch(
      new Request(`http://relay.test/api/sessions${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
    return { status: response.status, body: (await response.json()) as any };
  };
  const { code, sessionToken, agentToken } = (await ask('', 'none', {})).body;
  const register = (capabilities: JsonValue[]) =>
    ask(`/${code}/register-tools`, sessionToken, {
      pluginType: 'custom',
      capabilities,
      availableTools: [{ name: 'draw', description: 'Draws.', parameters: { type: 'object' } }],
    });
  const shown = async () =>
    (await ask(`/${code}/metadata`, agentToken)).body.tools.map(
      ({ name }: { name: string }) => name,
    );
  const called = async () =>
    (await ask(`/${code}/request`, agentToken, { tool: 'export_document' })).body.result;

  expect(await shown()).toEqual([]);
  expect(await called()).toMatchObject({ success: false });
  // The first time no session is open on the node, and the second time one is.
  await register([{ type: 'export', level: 'pdf' }]);
  expect(await shown()).toEqual(['export_document', 'draw']);
  expect(await called()).toMatchObject({ success: true, output: 'done' });
  await register([{ type: 'export', level: 'png' }]);
  expect(await shown()).toEqual(['draw']);
  expect(await called()).toMatchObject({ success: false });
  await register([{ type: 'export', level: 'pdf' }]);
  expect(await shown()).toEqual(['export_document', 'draw']);
  await relay.close();
});
