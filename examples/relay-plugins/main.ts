/**
 * Two applications of different types under the rules of one host:
 * `npx tsx examples/relay-plugins/main.ts`. The person at the terminal answers what rules ask.
 */
import { createInterface } from 'node:readline/promises';
import type { ApprovalRequest, Approver } from '../../src/index.ts';
import { connectDatabase } from './database/plugin.ts';
import { createTables } from './database/tables.ts';
import { type PluginSession, startPluginHost } from './host.ts';
import { connectSlack } from './slack/plugin.ts';
import { startSlackStandIn } from './slack/web-api.ts';

/** One question at a time, so that no answer counts for two. */
let last: Promise<unknown> = Promise.resolve();
const approver: Approver = (request, { signal }) => {
  const answer = last.then(() => ask(request, signal));
  last = answer.catch(() => undefined);
  return answer;
};

async function ask({ title, tool, input }: ApprovalRequest, signal: AbortSignal) {
  if (process.stdin.isTTY !== true) return 'reject_once';
  // Escaped, so that what an agent wrote cannot draw on the terminal.
  const shown = JSON.stringify(input).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`${title}\n${tool.name} ${shown} (y/n) `, { signal });
    return answer === 'y' ? 'allow_once' : 'reject_once';
  } finally {
    terminal.close();
  }
}

const token = 'xoxb-local-stand-in';
const slackServer = await startSlackStandIn({
  token,
  scopes: ['channels:read', 'chat:write'],
  channels: new Map([
    ['C1', 'general'],
    ['C2', 'builds'],
    ['C3', 'random'],
  ]),
});
const tables = createTables(new Map([['orders', ['id', 'customer', 'state']]]));
tables.insert('orders', { id: 1, customer: 'acme', state: 'open' });

const host = await startPluginHost(approver, Number(process.env.PORT ?? 4_061));
const slackSession = await host.createSession();
const databaseSession = await host.createSession();
const slack = await connectSlack(slackSession.seat, { url: slackServer.url, token });
const database = await connectDatabase(databaseSession.seat, tables);

function show(name: string, { agentUrl, agentToken }: PluginSession, call: object): void {
  process.stdout.write(
    `${name}\n  curl -H 'Authorization: Bearer ${agentToken}' -H 'Content-Type: ` +
      `application/json' -d '${JSON.stringify(call)}' ${agentUrl}/request\n  MCP: ` +
      `${agentUrl}/mcp\n`,
  );
}
show('Slack', slackSession, {
  tool: 'slack_post_message',
  args: { channel: 'C2', text: 'The build is green.' },
});
show('Database', databaseSession, { tool: 'db_find', args: { table: 'orders' } });

process.once('SIGINT', async () => {
  await Promise.all([slack.close(), database.connection.close()]);
  await host.close();
  await slackServer.close();
});
