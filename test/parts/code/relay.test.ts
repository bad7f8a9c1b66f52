/** Programs that an agent runs over a relay, with tools of an application that is connected to it. */
import { afterEach, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import type { RelaySessionOptions } from '../../../src/surfaces/relay/options.ts';
import { folder } from '../../surfaces/config/folder.ts';
import {
  closeAll,
  connect,
  serve,
  type session,
  tool,
} from '../../surfaces/relay-client/real-relay-kit.ts';

afterEach(closeAll);

const hostKey = 'a-key-of-the-host-that-is-long-enough';
const amount = {
  type: 'object',
  properties: { amount: { type: 'number' } },
  required: ['amount'],
};

interface Result {
  readonly success: boolean;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly reason?: string };
}

/** A relay, an application with the tool `pay`, and its agent. */
async function world(options: RelaySessionOptions = {}, names: readonly string[] = ['pay']) {
  const relay = await serve({ hostKey, leaseMs: 60_000, session: { code: true, ...options } });
  const { url } = relay;
  const asHost = async (path: string, body: object) => {
    const response = await fetch(`${url}/api/sessions${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${hostKey}` },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const made = (await asHost('', {})) as unknown as Awaited<ReturnType<typeof session>>;
  const paid: unknown[] = [];
  const pay = ({ amount }: { amount: number }) => {
    paid.push(amount);
    return `paid ${amount}`;
  };
  const tools = names.map((name) => tool(name, pay, amount));
  const { connection } = await connect(relay, made, tools);
  const agent = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/api/sessions/${made.code}/${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${made.agentToken}`,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { status?: string; result?: Result; events?: unknown[] };
  };
  return {
    paid,
    connection,
    agent,
    run: (requestId: string, code: string) =>
      agent('POST', 'request', { requestId, tool: 'run_code', args: { code } }),
    /** The approvals that agents were told of. */
    async asked(count: number): Promise<readonly string[]> {
      let ids: readonly string[] = [];
      await expect
        .poll(async () => {
          const { events = [] } = await agent('GET', 'events?mode=poll&after=0');
          ids = (events as { event: string; data: { approvalId: string } }[])
            .filter(({ event }) => event === 'approval-required')
            .map(({ data }) => data.approvalId);
          return ids.length;
        })
        .toBe(count);
      return ids;
    },
    answer: (id: string, decision: string) => asHost(`/${made.code}/approvals/${id}`, { decision }),
    /** The result of a request that has ended. */
    async ended(requestId: string): Promise<Result | undefined> {
      let result: Result | undefined;
      await expect
        .poll(async () => {
          const { status, result: given } = await agent('GET', `requests/${requestId}`);
          result = given;
          return status;
        })
        .toBe('done');
      return result;
    },
  };
}

const twice =
  'return [await tools.pay({ amount: 1 }), await tools.pay({ amount: 2 }).catch(({ code }) => code)]';

test('a program calls what the application has registered', async () => {
  const { run, paid } = await world();
  expect((await run('r-1', twice)).result).toMatchObject({ output: ['paid 1', 'paid 2'] });
  expect(paid).toEqual([1, 2]);
});

test('a file of the registry turns programs on, and an application may not take their names', async () => {
  const registry = new HostToolRegistry();
  await loadHostTools(folder({ 'a.json': { code: true } }).at('a.json'), registry);
  const { run, connection } = await world({ code: undefined, registry }, ['pay', 'sleep']);
  expect(connection.failed).toMatchObject([{ toolName: 'sleep' }]);
  expect((await run('r-1', twice)).result).toMatchObject({ output: ['paid 1', 'paid 2'] });
});

test.each([
  ['sleep', true],
  ['toJSON', true],
  ['program', { name: 'program' }],
] as const)('an application may not take the name `%s` where programs run', async (name, code) => {
  const { connection } = await world({ code }, ['pay', name]);
  expect(connection.failed).toMatchObject([{ toolName: name }]);
});

const suspending: RelaySessionOptions = {
  rules: [{ effect: 'ask', tools: 'pay' }],
  approvalMode: 'suspend',
  approvals: { secret: 'x'.repeat(40) },
};

describe('a call of a program that needs a person', () => {
  test('is answered by the host, call by call, and the request gets the result of the program', async () => {
    const { run, asked, answer, ended, paid, agent } = await world(suspending);
    expect((await run('r-1', twice)).result).toMatchObject({ error: { code: 'approval_pending' } });
    const [first = ''] = await asked(1);
    expect(await answer(first, 'allow_once')).toMatchObject({ requestId: 'r-1' });
    const [, second = ''] = await asked(2);
    expect(paid).toEqual([1]);
    await expect.poll(async () => (await agent('GET', 'requests/r-1')).status).toBe('queued');
    await answer(second, 'reject_once');
    expect(await ended('r-1')).toMatchObject({ output: ['paid 1', 'approval_denied'] });
    expect(paid).toEqual([1]);
  });

  test('several at once: the last answer ends the request', async () => {
    const { run, asked, answer, ended, paid } = await world(suspending);
    await run('r-1', 'return await Promise.all([1, 2].map((amount) => tools.pay({ amount })))');
    await Promise.all((await asked(2)).map((id) => answer(id, 'allow_once')));
    expect(await ended('r-1')).toMatchObject({ output: ['paid 1', 'paid 2'] });
    expect(paid.toSorted()).toEqual([1, 2]);
  });

  test('runs no more once the agent has cancelled the program', async () => {
    const { run, asked, answer, ended, paid, agent } = await world(suspending);
    await run(
      'r-1',
      'await tools.pay({ amount: 1 }).catch(() => {}); return await tools.pay({ amount: 2 })',
    );
    const [first = ''] = await asked(1);
    await agent('DELETE', 'requests/r-1');
    expect(await ended('r-1')).toMatchObject({ error: { code: 'cancelled' } });
    expect(await answer(first, 'allow_once')).toMatchObject({ error: 'approval_not_found' });
    await run('r-2', 'return 1');
    await asked(1);
    expect(paid).toEqual([]);
  });
});
