/**
 * The host's part: a relay, and what its agents may do with the tools of plugins. The plugins know
 * none of it.
 */
import { type Approver, HostToolRegistry, type Quota, type Rule } from '../../src/index.ts';
import { serveRelay } from '../../src/surfaces/relay/index.ts';
import type { RelaySeat } from './relay-seat.ts';

/** Only what is named here runs, so a plugin cannot bring a tool that nobody has thought of. */
const rules: readonly Rule[] = [
  {
    id: 'reading',
    effect: 'allow',
    tools: ['slack_list_channels', 'db_tables', 'db_find'],
  },
  {
    id: 'posting',
    effect: 'ask',
    tools: 'slack_post_message',
  },
  {
    id: 'writing',
    effect: 'ask',
    tools: ['db_insert', 'db_update', 'db_delete'],
  },
  {
    // A row at a time: whoever deletes says which.
    id: 'deletions-name-the-row',
    effect: 'deny',
    tools: 'db_delete',
    when: { 'where.id': { exists: false } },
    reason: 'name_the_row',
  },
  {
    id: 'ledger-is-closed',
    effect: 'deny',
    tools: ['db_insert', 'db_update', 'db_delete'],
    when: { table: 'ledger' },
    reason: 'ledger_is_closed',
  },
];

/** Three messages a minute, whatever a person has agreed to, from all sessions together. */
const quotas: readonly Quota[] = [
  { id: 'posts', tools: 'slack_post_message', max: 3, per: 'minute', by: 'registry' },
];

/** A session of the relay, as the application and as the agent get it. */
export interface PluginSession {
  readonly seat: RelaySeat;
  /** Where the agent's requests go. */
  readonly agentUrl: string;
  readonly agentToken: string;
}

/** The relay while it runs. */
export interface PluginHost {
  readonly url: string;
  /** Its rules, quotas and events. */
  readonly registry: HostToolRegistry;
  /** Makes a session for one application and one agent. */
  createSession(): Promise<PluginSession>;
  close(): Promise<void>;
}

/**
 * Starts the relay on the loopback.
 * @param approver answers for the person at the host
 * @param port 0 is any that is free
 */
export async function startPluginHost(approver: Approver, port = 0): Promise<PluginHost> {
  const registry = new HostToolRegistry({ default: 'deny', rules, quotas });
  const server = await serveRelay({ port, session: { registry, approver } });
  const sessions = `${server.url}/api/sessions`;
  return {
    url: server.url,
    registry,
    async createSession() {
      const response = await fetch(sessions, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      });
      if (!response.ok) throw new Error(`The relay answered with status ${response.status}.`);
      const { code, sessionToken, agentToken } = (await response.json()) as Record<string, string>;
      if (code === undefined || sessionToken === undefined || agentToken === undefined)
        throw new Error('The relay answered without a code or a token.');
      return {
        seat: { url: server.url, code, token: sessionToken },
        agentUrl: `${sessions}/${code}`,
        agentToken,
      };
    },
    async close() {
      await server.close();
      await registry.close();
    },
  };
}
