/** The application's tools in a governed session. */
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../../src/index.ts';
import type {
  RelayedDefinition,
  ToolsDocument,
} from '../../../../src/surfaces/relay/ports/documents.ts';
import { createRelayedTools } from '../../../../src/surfaces/relay/tools/relayed-tools.ts';
import { relayed } from '../relay-world.ts';

const properties = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [
    `p${index}`,
    { type: 'string', description: 'x'.repeat(50) },
  ]),
);
const document = (definitions: readonly RelayedDefinition[]): ToolsDocument => ({
  revision: 1,
  pluginType: 'custom',
  pluginVersion: '1',
  capabilities: [],
  environment: {},
  definitions,
  registeredAt: 0,
  updatedAt: 0,
});
const toolsOf = (warn: () => void = () => expect.unreachable()) => {
  const session = new HostToolRegistry().createSession({ sessionId: 'ABCDEFGH' });
  const logger = { info: () => {}, warn, error: () => {} };
  return {
    session,
    tools: createRelayedTools({
      code: 'ABCDEFGH',
      session,
      requestTimeoutMs: 1_000,
      logger,
      run: async () => null,
    }),
  };
};

test('a thousand large tools let other work of the node run, and are registered in their order', async () => {
  const { session, tools } = toolsOf();
  const definitions = Array.from({ length: 1_000 }, (_, index) =>
    relayed(`tool_${String(index).padStart(4, '0')}`, {
      parameters: { type: 'object', properties },
    }),
  );
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await tools.show(document(definitions));
  over = true;
  expect(turns).toBeGreaterThan(1);
  expect((await session.effectiveTools()).tools.map(({ name }) => name)).toEqual(
    definitions.map(({ name }) => name),
  );
});

test('a tool that is registered again is replaced in its place, and a missing one is removed', async () => {
  const { session, tools } = toolsOf();
  await tools.show(document([relayed('a'), relayed('b'), relayed('c')]));
  await tools.show(document([relayed('c'), relayed('a', { description: 'Another.' })]));
  expect(
    (await session.effectiveTools()).tools.map(({ name, description }) => [name, description]),
  ).toEqual([
    ['a', 'Another.'],
    ['c', 'Does c.'],
  ]);
  expect([tools.has('a'), tools.has('b')]).toEqual([true, false]);
});

test('a tool with a new definition that this node cannot show is removed, and can come back', async () => {
  let warnings = 0;
  const { session, tools } = toolsOf(() => warnings++);
  await tools.show(document([relayed('a'), relayed('b')]));
  // A node of another version may have accepted such a definition.
  await tools.show(document([relayed('a', { parameters: { type: 'newer' } }), relayed('b')]));
  const names = async () => (await session.effectiveTools()).tools.map(({ name }) => name);
  expect([await names(), tools.has('a'), warnings]).toEqual([['b'], false, 1]);
  await tools.show(document([relayed('a'), relayed('b')]));
  expect([await names(), tools.has('a'), warnings]).toEqual([['b', 'a'], true, 1]);
});

test('a session that closes in the meantime gets no more tools, and nothing is logged', async () => {
  const { session, tools } = toolsOf();
  await session.close();
  await tools.show(document([relayed('a'), relayed('b')]));
});
