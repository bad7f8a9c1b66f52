/** What rules cost a call: a thousand of them, and the kinds of tests that they make. */
import { HostToolRegistry, type Rule, type SessionOptions } from '../src/index.ts';
import { sequential } from './calls.ts';
import { input, rawTools, zodTool } from './fixtures.ts';
import { type Case, compare, type Timing } from './harness.ts';
import type { FamilyResult, Row, TargetId } from './targets.ts';

const allowed: Rule = { effect: 'allow', tools: 'forecast' };

/** Ten rules that can concern a call to `forecast`, and do not match it. */
const relevant = Array.from(
  { length: 10 },
  (_, index): Rule => ({
    effect: 'deny',
    tools: 'forecast',
    when: index % 2 === 0 ? { days: { gt: 100 + index } } : { city: { glob: `Utopia ${index}*` } },
  }),
);

/** Rules on other tools. */
const others = Array.from(
  { length: 990 },
  (_, index): Rule => ({
    effect: 'deny',
    tools: `tool_${index}`,
    when: { path: { glob: `/etc/${index}/*` } },
  }),
);

function called(
  name: string,
  rules: readonly Rule[],
  options: Omit<SessionOptions, 'sessionId'> = {},
): Case {
  const registry = new HostToolRegistry({ rules: [...rules, allowed] });
  registry.registerAll([zodTool, ...rawTools(999)]);
  const { call } = registry.createSession({ sessionId: 'bench', ...options });
  return sequential(name, async () => {
    const { success } = await call('forecast', input);
    if (!success) throw new Error(`${name}: expected the call to pass.`);
  });
}

export async function measure(): Promise<FamilyResult> {
  const many = await compare([
    called('ten', relevant),
    called('rules_many', [...others.slice(0, 500), ...relevant, ...others.slice(500)]),
  ]);
  // A fact that a session has from its start is judged when the session's rules are prepared. What
  // a call pays for is a list that is read from a fact.
  const facts = { cities: ['Paris', 'Rome'], role: 'clerk' };
  const deny = (rule: Omit<Rule, 'effect'>): Rule[] => [
    { effect: 'deny', tools: 'forecast', ...rule },
  ];
  const tests = await compare([
    called('glob', deny({ when: { city: { glob: 'Pa*' } } }), { facts }),
    called('rule_number', deny({ when: { days: { gt: 10 } } }), { facts }),
    called('rule_fact', deny({ facts: { role: 'intern' } }), { facts }),
    called('list', deny({ when: { city: { in: { fact: 'cities' } } } }), { facts }),
    called('not', deny({ when: { city: { not: { in: ['Oslo', 'Bergen'] } } } }), { facts }),
  ]);
  return {
    rows: [
      row(many, 'rules_many'),
      row(tests, 'rule_number'),
      row(tests, 'rule_fact'),
      told(tests, 'list', 'a rule whose list is a fact, against a rule with a glob'),
      told(tests, 'not', 'a rule with `not`, against a rule with a glob'),
    ],
  };
}

function timing(timings: readonly Timing[], name: string): Timing {
  const found = timings.find((one) => one.name === name);
  if (found === undefined) throw new Error(`Nothing was measured as ${name}.`);
  return found;
}
function row(timings: readonly Timing[], id: TargetId): Row {
  const { ratio, ns } = timing(timings, id);
  return { id, value: ratio, note: `${Math.round(ns)} ns` };
}
function told(timings: readonly Timing[], name: string, what: string): Row {
  const { ratio, ns } = timing(timings, name);
  return { what, value: ratio, unit: '×', note: `${Math.round(ns)} ns` };
}
