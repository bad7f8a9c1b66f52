/** Makes rules and policy tests from recorded calls, a few at a time. */
import type { HostToolRegistry } from '../../core.ts';
import type {
  RuleProposal,
  RuleRequest,
  RuleTrial,
  TestRequest,
  TestTrial,
} from '../pages/inspector-make-wire.ts';
import type { CallLog, KeptCall } from './call-log.ts';
import { type CannotMake, createRuleMaker } from './make-rule.ts';
import { createTestMaker } from './make-test.ts';
import type { SessionList } from './session-list.ts';

/** Most rules that are tried at once. A request for one more is refused. */
const maxTrials = 4;

/** Makes rules and policy tests from calls by their numbers. */
export interface Makers {
  propose(n: number): RuleProposal | CannotMake;
  rule(request: RuleRequest, signal: AbortSignal): Promise<RuleTrial | CannotMake>;
  test(request: TestRequest): Promise<TestTrial | CannotMake>;
  /** Ends the trials. */
  close(): void;
}

export function createMakers(
  registry: HostToolRegistry<never>,
  log: CallLog,
  sessions: SessionList,
): Makers {
  const rules = createRuleMaker(registry, log, sessions);
  const tests = createTestMaker(registry, sessions);
  const closing = new AbortController();
  let trials = 0;
  const callOf = (n: number): KeptCall | CannotMake =>
    log.get(n) ?? { cannot: 'This call is no longer kept.' };
  return {
    propose(n) {
      const call = callOf(n);
      return 'cannot' in call ? call : rules.propose(call);
    },
    async rule(request, signal) {
      const call = callOf(request.n);
      if ('cannot' in call) return call;
      if (trials >= maxTrials)
        return { cannot: 'Other rules are being tried. Try again in a moment.' };
      trials++;
      const ending = AbortSignal.any([signal, closing.signal]);
      try {
        return await rules.make(request, call, ending);
      } catch (error) {
        if (ending.aborted) return { cannot: 'The trial was stopped.' };
        throw error;
      } finally {
        trials--;
      }
    },
    async test(request) {
      const call = callOf(request.n);
      return 'cannot' in call ? call : tests.make(request, call);
    },
    close: () => closing.abort(),
  };
}
