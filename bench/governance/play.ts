/**
 * Plays one scenario as a host would: a registry and an audit log for each tenant, a profile for each
 * tier, a session for each person, and a policy server that every call is asked of. Nothing is
 * decided here: the tables become rules, scopes and quotas, and the library says what they mean.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineTool, HostToolRegistry, type Rule, type ToolSession } from '../../src/index.ts';
import { type AuditLog, createAuditLog } from '../../src/surfaces/audit/index.ts';
import { opaPolicy } from '../../src/surfaces/policy-engines/opa/index.ts';
import type { Action, Attempt, Field, Scenario, Tenant, Tier } from './scenarios.ts';

/** An attempt, and whether its handler ran. */
export interface Outcome extends Attempt {
  readonly tier: Tier;
  readonly tenant: string;
  readonly allowed: boolean;
  readonly reason?: string | undefined;
}

/** What a line of the audit log says, by the names of the benchmark. */
export type Line = Readonly<Partial<Record<Field, string>>> & { readonly chain: readonly string[] };

/** What happened in a scenario. */
export interface Played {
  readonly outcomes: readonly Outcome[];
  readonly lines: readonly Line[];
  readonly reachable: boolean;
  readonly errors: readonly unknown[];
}

const tiers: readonly Tier[] = ['interactive', 'subagent', 'api', 'background'];

/** A server of policies on loopback that allows everything, as long as it works. */
async function policyServer(): Promise<{
  url: string;
  fail(how: 'unreachable' | 'status 500' | undefined): void;
  isUp(): boolean;
  close(): Promise<void>;
}> {
  let failure: 'unreachable' | 'status 500' | undefined;
  const server = createServer((request, response) => {
    if (failure === 'unreachable') return void request.destroy();
    response.statusCode = failure === undefined ? 200 : 500;
    response.end(JSON.stringify({ result: true }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/data/calls/allow`,
    fail(how) {
      failure = how;
    },
    isUp: () => failure === undefined,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

/** A tenant's own registry, with what its directory says of people. */
class House {
  readonly registry: HostToolRegistry;
  readonly #tenant: Tenant;
  readonly #ran: Set<string>;
  readonly #audit: AuditLog;
  readonly lines: string[] = [];
  readonly #sessions = new Map<string, ToolSession>();

  constructor(tenant: Tenant, tools: Scenario['setup']['tools'], url: string, ran: Set<string>) {
    this.#tenant = tenant;
    this.#ran = ran;
    this.registry = new HostToolRegistry({
      policies: [opaPolicy({ url })],
      logger: { warn() {}, error() {} },
      policyTimeoutMs: 60_000,
      rules: [
        {
          id: 'members-only',
          effect: 'deny',
          principal: { not: { in: tenant.people.map(({ id }) => id) } },
          reason: 'not_a_member',
        },
      ],
    });
    for (const [name, scopes] of Object.entries(tools))
      this.registry.register(
        defineTool({
          name,
          description: `Does ${name}.`,
          parameters: { type: 'object' },
          ...(scopes.length === 0 ? {} : { scopes }),
          handler: (_, { callId }) => {
            this.#ran.add(callId);
            return 'done';
          },
        }),
      );
    for (const tier of tiers) this.#define(tier, Object.keys(tools));
    this.#audit = createAuditLog({ sink: (line) => void this.lines.push(line) });
    this.#audit.attach(this.registry);
  }

  #define(tier: Tier, tools: readonly string[]): void {
    const { tiers: all = {}, deniedTools = [], deniedPeople = [] } = this.#tenant;
    const { permission = 'allow', perMinute } = all[tier] ?? {};
    const rules: Rule[] = [];
    for (const denied of deniedTools)
      if (denied.tier === tier)
        rules.push({
          effect: 'deny',
          tools: denied.tool,
          ...(denied.except === undefined ? {} : { principal: { not: { in: denied.except } } }),
          reason: 'tool_denied',
        });
    for (const { person, tier: of } of deniedPeople)
      if (of === tier) rules.push({ effect: 'deny', principal: person, reason: 'person_denied' });
    this.registry.defineProfile({
      id: tier,
      tools,
      rules,
      default: permission,
      ...(perMinute === undefined
        ? {}
        : { quotas: [{ id: tier, max: perMinute, per: 'minute', by: 'principal' }] }),
    });
  }

  /** The session of a person, or of nobody, in a tier. */
  session(person: string, tier: Tier): ToolSession {
    const key = JSON.stringify([person, tier]);
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    const found = this.#tenant.people.find(({ id }) => id === person);
    const session = this.registry.createSession({
      sessionId: key,
      profile: tier,
      facts: { tier },
      scopes: found?.scopes ?? [],
      labels: {
        tenant: this.#tenant.id,
        tier,
        ...(found?.email === undefined ? {} : { email: found.email }),
      },
      ...(person === '' ? {} : { principal: person }),
    });
    this.#sessions.set(key, session);
    return session;
  }

  deny({ tool, tier, person }: Extract<Action, { do: 'deny' }>): void {
    this.registry.addRules([
      {
        effect: 'deny',
        facts: { tier },
        ...(tool === undefined ? {} : { tools: tool }),
        ...(person === undefined ? {} : { principal: person }),
        reason: 'changed',
      },
    ]);
  }

  async close(): Promise<void> {
    await this.registry.close();
    await this.#audit.close();
  }
}

/** Longer than 60 lines, since it holds the state that all actions share. */
export async function play({ setup, actions }: Scenario): Promise<Played> {
  const server = await policyServer();
  const ran = new Set<string>();
  const houses = new Map(
    setup.tenants.map((one) => [one.id, new House(one, setup.tools, server.url, ran)]),
  );
  const [{ id: first } = { id: '' }] = setup.tenants;
  const handed = new Map<string, { from: string; scopes: readonly string[] }>();
  const agents = new Map<string, ToolSession>();
  const outcomes: Outcome[] = [];
  const errors: unknown[] = [];

  /** The session of an agent: delegated by the one that handed on the task, or by the person. */
  const sessionOf = (root: ToolSession, agent: string | undefined): ToolSession => {
    if (agent === undefined) return root;
    const key = JSON.stringify([root.sessionId, agent]);
    const known = agents.get(key);
    if (known !== undefined) return known;
    const task = handed.get(agent);
    const outer = task === undefined ? root : sessionOf(root, task.from);
    const session = outer.delegate({
      agent,
      ...(task === undefined ? {} : { scopes: task.scopes }),
    });
    agents.set(key, session);
    return session;
  };

  const attempt = async (one: Attempt): Promise<void> => {
    const { tenant = first, tier = 'interactive', as, agent, tool } = one;
    const house = houses.get(tenant) as House;
    const session = sessionOf(house.session(as, tier), agent);
    const result = await session.call(tool, {});
    const allowed = ran.has(result.metadata.callId);
    if (allowed !== result.success) errors.push(new Error(`${tool} ran and did not succeed.`));
    outcomes.push({ ...one, tenant, tier, allowed, reason: result.error?.reason });
  };

  try {
    for (const action of actions) {
      if (action.do === 'call') await attempt(action);
      else if (action.do === 'delegate') handed.set(action.to, action);
      else if (action.do === 'fail') server.fail(action.recovers ? undefined : action.how);
      else if (action.do === 'deny') houses.get(action.tenant)?.deny(action);
      else {
        const { workers, callsEach, ...rest } = action;
        const calls = Array.from({ length: workers * callsEach }, (_, at) =>
          attempt({
            ...rest,
            do: 'call',
            tier: 'subagent',
            agent: `worker-${Math.floor(at / callsEach)}`,
          }),
        );
        await Promise.all(calls);
      }
    }
  } catch (error) {
    errors.push(error);
  }
  for (const house of houses.values()) await house.close();
  await server.close();
  const lines = [...houses.values()].flatMap((house) => house.lines.map(lineOf));
  return { outcomes, lines, reachable: server.isUp(), errors };
}

/** What the audit log keeps of a call. */
interface Kept {
  readonly at: number;
  readonly callId: string;
  readonly principal: string;
  readonly tool: string;
  readonly status: string;
  readonly reason?: string;
  readonly actor?: {
    readonly chain: readonly { readonly agent: string }[];
    readonly labels?: Readonly<Record<string, string>>;
  };
}

function lineOf(text: string): Line {
  const { at, callId, principal, tool, status, reason, actor } = JSON.parse(text) as Kept;
  const { tenant, tier, email } = actor?.labels ?? {};
  return {
    timestamp: new Date(at).toISOString(),
    actor_uid: principal,
    tool,
    decision: status === 'succeeded' ? 'allow' : 'deny',
    trace_id: callId,
    chain: (actor?.chain ?? []).map(({ agent }) => agent),
    ...(reason === undefined ? {} : { reason }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(tier === undefined ? {} : { tier }),
    ...(email === undefined ? {} : { actor_email: email }),
  };
}
