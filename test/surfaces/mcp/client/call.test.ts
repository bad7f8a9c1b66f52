/** When a call to an imported tool is handed to its server. */
import { expect, test, vi } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../../src/index.ts';
import { executorOf } from '../../../../src/surfaces/mcp/client/call.ts';
import type { Connection } from '../../../../src/surfaces/mcp/client/connection.ts';
import type { ServerTool } from '../../../../src/surfaces/mcp/client/definition.ts';
import type { Link } from '../../../../src/surfaces/mcp/client/link.ts';
import { gate, turns } from '../../../core/call/world.ts';

function world(isOpen: boolean) {
  const opening = gate();
  const state = { isOpen };
  const sent = vi.fn(async () => ({ content: [{ type: 'text', text: 'ran' }] }));
  const link = { lost: false, direct: { call: sent } } as unknown as Link;
  const connection: Connection = {
    get isOpen() {
      return state.isOpen;
    },
    link: async () => {
      await opening.promise;
      state.isOpen = true;
      return link;
    },
    run: (work) => work(link),
    close: async () => {},
  };
  const told = { withdrawn: undefined as string | undefined };
  const executor = executorOf(
    { name: 't' } as ServerTool,
    connection,
    undefined,
    () => told.withdrawn,
  );
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 't',
      description: 'Runs on a server.',
      parameters: { type: 'object' },
      executor,
    }),
  );
  const { call } = registry.createSession({ sessionId: 's' });
  return { registry, call, opening, sent, told };
}

test('a call that waits for the connection is judged after it', async () => {
  const { registry, call, opening, sent } = world(false);
  const calling = call('t', {});
  await turns();
  registry.addRules([{ effect: 'deny', reason: 'since_then' }]);
  opening.open();
  expect((await calling).error).toMatchObject({ code: 'policy_denied', reason: 'since_then' });
  expect(sent).not.toHaveBeenCalled();
});

test.each([true, false])('a tool that was withdrawn is not called (open: %s)', async (isOpen) => {
  const { call, opening, sent, told } = world(isOpen);
  told.withdrawn = 'removed';
  const calling = call('t', {});
  opening.open();
  expect((await calling).error).toMatchObject({ code: 'tool_not_available', reason: 'removed' });
  expect(sent).not.toHaveBeenCalled();
});
