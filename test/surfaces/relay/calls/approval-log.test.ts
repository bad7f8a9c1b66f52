/** The announcements of approvals in the agent's log. */
import { expect, test, vi } from 'vitest';
import { defineTool, HostToolRegistry, memoryStore } from '../../../../src/index.ts';
import { announceApprovals } from '../../../../src/surfaces/relay/calls/approval-log.ts';
import { logName } from '../../../../src/surfaces/relay/secrets.ts';
import { kept } from '../watched-store.ts';

test('one that fails is logged with its session, its request and the reason', async () => {
  const registry = new HostToolRegistry({ rules: [{ effect: 'ask', tools: 'act' }] });
  registry.register(
    defineTool({
      name: 'act',
      description: 'Acts.',
      parameters: { type: 'object' },
      handler: () => 1,
    }),
  );
  const session = registry.createSession({ sessionId: 'CODECODE', approver: () => 'allow_once' });
  const lines: unknown[][] = [];
  const note = (...line: unknown[]): void => void lines.push(line);
  const full = () => Promise.reject(new Error('The store is full.'));
  const store = { ...kept(memoryStore()), apply: full };
  const logger = { info: note, warn: note, error: note };
  announceApprovals(session, 'CODECODE', { store, logger });
  await session.call('act', {}, { callId: 'r-1' });
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(lines[0]).toEqual([
    {
      session: logName('CODECODE'),
      request: 'r-1',
      err: expect.objectContaining({ message: expect.stringContaining('The store is full.') }),
    },
    'relay: an approval could not be announced',
  ]);
  await registry.close();
});
