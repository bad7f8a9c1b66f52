/** A Slack plugin and a database plugin, as their agents meet them over a relay. */
import { afterEach, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../examples/relay-plugins/database/plugin.ts';
import { createTables, type Tables } from '../../examples/relay-plugins/database/tables.ts';
import {
  type PluginHost,
  type PluginSession,
  startPluginHost,
} from '../../examples/relay-plugins/host.ts';
import { connectSlack } from '../../examples/relay-plugins/slack/plugin.ts';
import { startSlackStandIn } from '../../examples/relay-plugins/slack/web-api.ts';
import type { ToolError } from '../../src/index.ts';
import { connectRelay } from '../../src/surfaces/relay-client/index.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const later = (close: () => Promise<unknown>): void => void closers.push(close);

const token = 'xoxb-test';

/**
 * The host, with a person who answers as `says` does; `asked` has the tools that were asked for.
 */
async function open(says: 'allow_once' | 'reject_once' = 'allow_once') {
  const asked: string[] = [];
  const host = await startPluginHost(({ tool }) => {
    asked.push(tool.name);
    return says;
  });
  later(() => host.close());
  return { host, asked };
}

async function openSlack(host: PluginHost, scopes = ['channels:read', 'chat:write']) {
  const server = await startSlackStandIn({
    token,
    scopes,
    channels: new Map([
      ['C1', 'general'],
      ['C2', 'builds'],
      ['C3', 'random'],
    ]),
  });
  later(() => server.close());
  const session = await host.createSession();
  const connection = await connectSlack(session.seat, { url: server.url, token });
  later(() => connection.close());
  return { agent: agentOf(session), posted: server.posted };
}

async function openDatabase(host: PluginHost) {
  const tables: Tables = createTables(
    new Map([
      ['orders', ['id', 'customer', 'state']],
      ['ledger', ['id', 'amount']],
    ]),
  );
  tables.insert('orders', { id: 1, customer: 'acme', state: 'open' });
  tables.insert('orders', { id: 2, customer: 'globex', state: 'open' });
  const session = await host.createSession();
  const plugin = await connectDatabase(session.seat, tables);
  later(() => plugin.connection.close());
  return { agent: agentOf(session), tables, plugin };
}

/** An agent over REST: the output of a call, or the code and the reason of its error. */
function agentOf({ agentUrl, agentToken }: PluginSession) {
  const headers = {
    Authorization: `Bearer ${agentToken}`,
    'Content-Type': 'application/json',
  };
  return {
    async call(tool: string, args: object = {}): Promise<unknown> {
      const body = JSON.stringify({ tool, args });
      const response = await fetch(`${agentUrl}/request`, { method: 'POST', headers, body });
      const { result } = (await response.json()) as {
        result: { success: boolean; output?: unknown; error: ToolError };
      };
      if (result.success) return result.output;
      const { code, reason, message } = result.error;
      return code === 'handler_error' ? message : [code, reason];
    },
    async metadata() {
      const response = await fetch(`${agentUrl}/metadata`, { headers });
      const { pluginType, tools } = (await response.json()) as {
        pluginType: string;
        tools: { name: string }[];
      };
      return { pluginType, tools: tools.map(({ name }) => name).sort() };
    },
  };
}

describe('the Slack plugin', () => {
  test('is of type slack, and its channels are read without a question, page by page', async () => {
    const { host, asked } = await open();
    const { agent } = await openSlack(host);
    expect(await agent.metadata()).toEqual({
      pluginType: 'slack',
      tools: ['slack_list_channels', 'slack_post_message'],
    });
    expect(await agent.call('slack_list_channels')).toEqual([
      { id: 'C1', name: 'general' },
      { id: 'C2', name: 'builds' },
      { id: 'C3', name: 'random' },
    ]);
    expect(asked).toEqual([]);
  });

  test('posts once a person has agreed, and mentions call no one', async () => {
    const { host, asked } = await open();
    const { agent, posted } = await openSlack(host);
    expect(
      await agent.call('slack_post_message', { channel: 'C2', text: '<!channel> & all' }),
    ).toEqual({ channel: 'C2', ts: '1700000000.000001' });
    expect(asked).toEqual(['slack_post_message']);
    expect(posted).toEqual([{ channel: 'C2', text: '&lt;!channel&gt; &amp; all' }]);
  });

  test('posts nothing if the person says no', async () => {
    const { host } = await open('reject_once');
    const { agent, posted } = await openSlack(host);
    const refused = await agent.call('slack_post_message', { channel: 'C2', text: 'hello' });
    expect(refused).toEqual(['approval_denied', expect.any(String)]);
    expect(posted).toEqual([]);
  });

  test('posts three messages a minute, from all sessions together', async () => {
    const { host } = await open();
    const [one, other] = [await openSlack(host), await openSlack(host)];
    const post = ({ agent }: typeof one) =>
      agent.call('slack_post_message', { channel: 'C1', text: 'hello' });
    await Promise.all([post(one), post(other), post(one)]);
    expect(await post(other)).toEqual(['policy_denied', 'quota_exceeded']);
    expect(one.posted.length + other.posted.length).toBe(3);
  });

  test('passes the refusals of Slack to the agent', async () => {
    const { host } = await open();
    const { agent } = await openSlack(host);
    expect(await agent.call('slack_post_message', { channel: 'C9', text: 'hello' })).toBe(
      'Slack refused: channel_not_found.',
    );
  });

  test('has no tool that posts if the token may not', async () => {
    const { host } = await open();
    const { agent } = await openSlack(host, ['channels:read']);
    expect((await agent.metadata()).tools).toEqual(['slack_list_channels']);
  });

  test('does not connect with a token that Slack does not know', async () => {
    const { host } = await open();
    const server = await startSlackStandIn({ token, scopes: [], channels: new Map() });
    later(() => server.close());
    const { seat } = await host.createSession();
    await expect(connectSlack(seat, { url: server.url, token: 'wrong' })).rejects.toThrow(
      'Slack refused: invalid_auth.',
    );
  });
});

describe('the database plugin', () => {
  test('is of type database, and rows are found without a question', async () => {
    const { host, asked } = await open();
    const { agent } = await openDatabase(host);
    expect((await agent.metadata()).pluginType).toBe('database');
    expect(await agent.call('db_tables')).toEqual({
      orders: ['id', 'customer', 'state'],
      ledger: ['id', 'amount'],
    });
    expect(await agent.call('db_find', { table: 'orders', where: { customer: 'acme' } })).toEqual([
      { id: 1, customer: 'acme', state: 'open' },
    ]);
    expect(asked).toEqual([]);
  });

  test.each([
    ['db_insert', { table: 'orders', row: { id: 3 } }, { inserted: 1 }],
    ['db_update', { table: 'orders', where: { id: 1 }, set: { state: 'sent' } }, { updated: 1 }],
    ['db_delete', { table: 'orders', where: { id: 2 } }, { deleted: 1 }],
  ])('%s asks', async (tool, args, output) => {
    const { host, asked } = await open();
    const { agent } = await openDatabase(host);
    expect(await agent.call(tool, args)).toEqual(output);
    expect(asked).toEqual([tool]);
  });

  test.each([
    ['db_delete', { table: 'orders', where: { state: 'open' } }, 'name_the_row'],
    ['db_insert', { table: 'ledger', row: { id: 1, amount: 5 } }, 'ledger_is_closed'],
    ['db_update', { table: 'ledger', where: { id: 1 }, set: { amount: 0 } }, 'ledger_is_closed'],
  ])('%s %j is refused: %s', async (tool, args, reason) => {
    const { host, asked } = await open();
    const { agent, tables } = await openDatabase(host);
    expect(await agent.call(tool, args)).toEqual(['policy_denied', reason]);
    expect(asked).toEqual([]);
    expect(tables.find('orders', {}, 10)).toHaveLength(2);
  });

  test('what is misspelt comes back with what there is', async () => {
    const { host } = await open();
    const { agent } = await openDatabase(host);
    expect(await agent.call('db_find', { table: 'users' })).toBe(
      'There is no table users. There are: orders, ledger.',
    );
    expect(await agent.call('db_find', { table: 'orders', where: { name: 'a' } })).toBe(
      'orders has no column name. It has: id, customer, state.',
    );
  });

  test('loses its writing tools during maintenance, and gets them back', async () => {
    const { host } = await open();
    const { agent, plugin } = await openDatabase(host);
    await agent.call('db_tables');
    await plugin.setReadOnly(true);
    expect((await agent.metadata()).tools).toEqual(['db_find', 'db_tables']);
    const [code] = (await agent.call('db_insert', { table: 'orders', row: { id: 3 } })) as string[];
    expect(code).toBe('tool_not_available');
    await plugin.setReadOnly(false);
    expect(await agent.call('db_insert', { table: 'orders', row: { id: 3 } })).toEqual({
      inserted: 1,
    });
  });
});

test('an application that brings any other tool brings one that never runs', async () => {
  const { host } = await open();
  const session = await host.createSession();
  const connection = await connectRelay({
    ...session.seat,
    tools: [
      {
        name: 'run_sql',
        description: 'Runs any statement.',
        parameters: { type: 'object' },
        annotations: { readOnly: true },
        handler: () => 'ran',
      },
    ],
  });
  later(() => connection.close());
  const [code] = (await agentOf(session).call('run_sql', { sql: 'drop table orders' })) as string[];
  expect(code).toBe('policy_denied');
});

test('the agent of one plugin sees nothing of the other', async () => {
  const { host } = await open();
  const slack = await openSlack(host);
  const database = await openDatabase(host);
  expect(await slack.agent.call('db_tables')).toEqual(['tool_not_found', undefined]);
  expect(await database.agent.call('slack_list_channels')).toEqual(['tool_not_found', undefined]);
});
