/** The member `actor` of a rule: who acts in a call. */

import { noAgents } from '../../core/call/actor.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { holdsFor } from '../../core/rules/conditions.ts';
import type { Reading } from '../../core/rules/rule.ts';
import type { Check, CompileKey } from '../../core/rules/rule-check.ts';
import { compilePlainTest } from '../../core/rules/value-test.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';

const keys = ['agent', 'depth'] as const;

/**
 * Tests the agent that makes the call, and how many agents stand between it and the person. A
 * direct call has no agent, and the depth 0.
 */
export const compileActor: CompileKey = (value, reading, check) => {
  const tests = readTests(value, reading, check);
  return ({ call, facts }) => {
    const chain = call === undefined ? noAgents : wholeSession((call as FoundCall).session).chain;
    const actor = { agent: chain.at(-1)?.agent, depth: chain.length };
    return tests.every(([key, test]) => holdsFor(test, reading, actor[key], facts));
  };
};

function readTests(value: JsonValue, reading: Reading, check: Check) {
  check(
    isJsonObject(value) && Object.keys(value).length > 0,
    'actor',
    'left out or an object of `agent` and `depth`',
    value,
  );
  const comparison = reading === 'all' ? 'strict' : 'loose';
  return Object.entries(value).map(([key, test]) => {
    const known = keys.find((one) => one === key);
    check(known !== undefined, 'actor key', '`agent` or `depth`', key);
    checkPlain(known, test, check);
    return [known, compilePlainTest(test, `actor.${key}`, comparison, check)] as const;
  });
}

/** A value that no actor ever has is a slip: the rule would hold for nobody. */
function checkPlain(key: (typeof keys)[number], test: JsonValue, check: Check): void {
  if (isJsonObject(test) || Array.isArray(test)) return;
  if (key === 'depth') {
    const isDepth = typeof test === 'number' && Number.isSafeInteger(test) && test >= 0;
    check(isDepth, 'actor.depth', 'a whole number from 0, or a test such as `{ gte: 1 }`', test);
  } else {
    check(typeof test === 'string', 'actor.agent', 'the name of an agent, or a test', test);
    const hint = `the exact name of an agent. For a pattern: \`{ glob: ${JSON.stringify(test)} }\``;
    check(!/[*?]/.test(test), 'actor.agent', hint, test);
  }
}
