/** Makes a policy test from a recorded call, and runs it against the present rules. */

import { judgingCopy } from '../../core/registry/judging-copy.ts';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { type ErrorCode, errorCodes, type HostToolRegistry } from '../../core.ts';
import { explain as explainCall } from '../../parts/explain/explain.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import { redacted } from '../../values/redaction/spellings.ts';
import type { TestDecision, TestRequest, TestTrial } from '../pages/inspector-make-wire.ts';
import type { CallLine } from '../pages/inspector-wire.ts';
import { type Expectation, type Found, foundOf, meets } from '../policy/policy-case.ts';
import type { KeptCall } from './call-log.ts';
import { type CannotMake, wholeInputOf } from './make-rule.ts';
import { knownSessions } from './recorded-calls.ts';
import type { SessionList } from './session-list.ts';
import { sessionForLooking } from './tool-views.ts';
import { fitsKey, longestKey, yamlText } from './yaml-text.ts';

/** Makes policy tests. */
export interface TestMaker {
  make(request: TestRequest, call: KeptCall): Promise<TestTrial | CannotMake>;
}

export function createTestMaker(
  registry: HostToolRegistry<never>,
  sessions: SessionList,
): TestMaker {
  const state = registryStateOf(registry);
  return {
    async make({ expect }, call) {
      const { line } = call;
      const outcome = recordedOutcome(line);
      const whole = wholeInputOf(call);
      if ('cannot' in whole) return whole;
      const { input } = whole;
      if (hasLongKey(input))
        return {
          cannot: `The input has a name of more than ${longestKey} characters, with its escapes.`,
        };
      const { facts = {}, profile } = knownSessions(state, sessions)(line.sessionId);
      const given = {
        tool: line.tool,
        input,
        ...(profile === undefined ? {} : { profile }),
        ...(line.principal === '' ? {} : { principal: line.principal }),
        ...(line.surface === '' ? {} : { surface: line.surface }),
      };
      const found = await judge(state, given);
      const now = decisionOf(found);
      const expected =
        expect === 'now' ? now : expect === 'recorded' ? outcome : { decision: expect };
      if (expected === undefined) return { cannot: 'The gates have not decided this call yet.' };
      const notes: TestTrial['notes'][number][] = [];
      if ([JSON.stringify(input), line.principal].some((text) => text.includes(redacted)))
        notes.push('redacted');
      if (Object.keys(facts).length > 0) notes.push('facts');
      if (line.byQuota === true) notes.push('quota');
      return {
        yaml: yamlText({ tests: [{ ...given, expect: written(expected) }] }),
        passes: meets(expected, found),
        expected,
        found: now,
        notes,
      };
    },
  };
}

/** The case, judged as `policy test` does: in a session of its own, with empty quotas. */
async function judge(
  state: ReturnType<typeof registryStateOf>,
  given: { readonly tool: string; readonly input: JsonValue } & Partial<
    Record<'profile' | 'principal' | 'surface', string>
  >,
): Promise<Found> {
  const { now } = state;
  const quotaStore = memoryStore({ now });
  const copy = judgingCopy(state, {
    rules: undefined,
    options: { quotaStore },
    now,
    hostGates: true,
  });
  const { tool, input, surface, profile, principal } = given;
  const session = sessionForLooking(copy, profile, principal);
  return foundOf(await explainCall(session, tool, input, surface));
}

/** What a test must expect so that it holds for what happened; undefined while the call waits. */
function recordedOutcome({ effect, code, reason, ruleId }: CallLine): Expectation | undefined {
  if (effect === undefined) {
    if (code === 'tool_not_available') return { decision: 'hidden' };
    return code !== undefined && Object.hasOwn(errorCodes, code as ErrorCode)
      ? { decision: code }
      : undefined;
  }
  if (effect !== 'deny') return { decision: effect };
  return {
    decision: effect,
    ...(reason === undefined ? {} : { reason }),
    ...named(ruleId),
  };
}

function decisionOf({ decision, reason, ruleId }: Found): TestDecision {
  return {
    decision,
    ...(reason === undefined || decision === 'ask' ? {} : { reason }),
    ...(decision === 'deny' || decision === 'ask' ? named(ruleId) : {}),
  };
}

/** A rule without an id is named after its position, which changes. */
function named(ruleId: string | undefined): { readonly ruleId?: string } {
  return ruleId === undefined || /#\d+$/.test(ruleId) ? {} : { ruleId };
}

function written({ decision, reason, ruleId }: TestDecision): JsonValue {
  const more: JsonObject = {
    ...(reason === undefined ? {} : { reason }),
    ...(ruleId === undefined ? {} : { ruleId }),
  };
  return Object.keys(more).length === 0 ? decision : { decision, ...more };
}

function hasLongKey(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, member]) => !fitsKey(key) || hasLongKey(member as JsonValue),
  );
}
