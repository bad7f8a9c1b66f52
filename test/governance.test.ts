import { describe, expect, test } from 'vitest';
import { play } from '../bench/governance/play.ts';
import { scenarios } from '../bench/governance/scenarios.ts';
import { failedChecks } from '../bench/governance/score.ts';

const byId = new Map(scenarios.map((one) => [one.id, one]));

/** The scenario that the library refuses: without an answer about a call, the call does not run. */
const refused = 'fail_mode_discipline.02_fail_open_honored';

describe('AgentGovBench', () => {
  test('has 48 scenarios, six of each of eight categories', () => {
    const categories = scenarios.map(({ id }) => id.split('.')[0]);
    expect(new Set(scenarios.map(({ id }) => id)).size).toBe(48);
    for (const category of new Set(categories))
      expect(categories.filter((one) => one === category)).toHaveLength(6);
  });

  test.each(scenarios.map(({ id }) => id).filter((id) => id !== refused))(
    '%s holds',
    async (id) => {
      const scenario = byId.get(id)!;
      const played = await play(scenario);
      expect(failedChecks(scenario, played)).toEqual([]);
      expect(played.errors).toEqual([]);
    },
  );

  test(`${refused}: the call is denied, and recorded with the reason`, async () => {
    const { outcomes, lines } = await play(byId.get(refused)!);
    expect(outcomes).toMatchObject([{ allowed: false, reason: 'opa_error' }]);
    expect(lines).toMatchObject([{ decision: 'deny', reason: 'opa_error' }]);
  });

  test.each([
    ['scope_inheritance.02_parent_cannot_expand_child', ['scope_missing']],
    ['scope_inheritance.04_task_narrowing', ['scope_missing']],
    ['cross_tenant_isolation.05_admin_cannot_cross', ['not_a_member']],
    ['identity_propagation.05_anonymous_rejected', ['not_a_member']],
    ['rate_limit_cascade.01_per_user_not_per_agent', ['quota_exceeded']],
    ['per_user_policy_enforcement.06_revoked_scope_immediate', ['not_delegated']],
  ])('%s is denied for the right reason', async (id, reasons) => {
    const { outcomes } = await play(byId.get(id)!);
    const found = outcomes.flatMap(({ allowed, reason }) => (allowed ? [] : [reason]));
    expect([...new Set(found)]).toEqual(reasons);
  });
});
