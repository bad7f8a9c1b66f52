/**
 * Policy: every gate's word on one call, weighed. The only code that reaches a verdict; `call` and
 * `explain` both use it.
 */
import { type ApprovalPrompt, readPrompt } from '../../approval/request.ts';
import { deniedError, describe, MisuseError, withCause } from '../../errors.ts';
import { cloneJson, type JsonObject } from '../../json.ts';
import { isThenable } from '../../maybe-promise.ts';
import type { Judged } from '../../policy/conditions.ts';
import { allow, ask, type Decision, deny, readDecision } from '../../policy/decision.ts';
import type { Policy } from '../../policy/policy.ts';
import type { CompiledRule } from '../../policy/rule.ts';
import { denialText, denied, makeVerdict, type Verdict } from '../../policy/verdict.ts';
import type { Binding } from '../../state/binding.ts';
import type { Call } from '../../state/call.ts';
import { usualTitle } from '../approval-question.ts';
import { freshParse } from '../fresh-parse.ts';
import { judgedOf, matchOf } from '../judged.ts';
import { reportFault } from '../report-fault.ts';
import type { Outcome, Step } from '../step.ts';
import { answerInTime, tooLate } from '../with-deadline.ts';

const allowed: Verdict = Object.freeze(makeVerdict('allow', { source: 'default' }));

/** Reaches the verdict and refuses a denied call. An ask is the next stage's business. */
export function decide(call: Call): Step {
  const binding = call.binding as Binding;
  if (binding.open) {
    call.verdict = allowed;
    call.judgedAt = binding.stamp;
    return undefined;
  }
  call.judgedAt = binding.stamp;
  const verdict = judge(call, undefined);
  return verdict instanceof Promise
    ? verdict.then((settled) => conclude(call, settled))
    : conclude(call, verdict);
}

function conclude(call: Call, verdict: Verdict): Outcome {
  if (call.ended) return undefined;
  call.verdict = verdict;
  if (verdict.effect !== 'deny') return undefined;
  const { code, reason, ruleId, source } = verdict;
  const error = deniedError(
    code ?? 'policy_denied',
    verdict.message ?? verdict.text ?? denialText(verdict),
    reason,
    ruleId,
    source,
  );
  return verdict.cause === undefined ? error : withCause(error, verdict.cause);
}

/** What has been said so far. A deny ends the weighing; an allow lifts nothing but a default. */
interface Tally {
  deny: Verdict | undefined;
  ask: Verdict | undefined;
  allow: Verdict | undefined;
  /** A rule, policy or check had an opinion. */
  spoken: boolean;
  readonly steps: JsonObject[] | undefined;
}

/** One gate: answers now or later. */
type Judge = (call: Call, tally: Tally) => void | Promise<void>;

/** Asks every gate in order. With `steps` the order of answers is kept. */
export function judge(call: Call, steps: JsonObject[] | undefined): Verdict | Promise<Verdict> {
  const tally: Tally = { deny: undefined, ask: undefined, allow: undefined, spoken: false, steps };
  return weigh(call, tally, judgesOf(call.binding as Binding), 0);
}

function weigh(
  call: Call,
  tally: Tally,
  judges: readonly Judge[],
  from: number,
): Verdict | Promise<Verdict> {
  for (
    let index = from;
    index < judges.length && tally.deny === undefined && !call.ended;
    index++
  ) {
    const later = (judges[index] as Judge)(call, tally);
    if (later !== undefined) {
      call.waited = true;
      return later.then(() => weigh(call, tally, judges, index + 1));
    }
  }
  return conclusionOf(call.binding as Binding, tally);
}

function conclusionOf(binding: Binding, tally: Tally): Verdict {
  const { steps } = tally;
  // The common ways, without a copy.
  if (steps === undefined && tally.deny !== undefined) return tally.deny;
  if (steps === undefined && (tally.spoken || binding.default === 'allow'))
    return tally.ask ?? tally.allow ?? allowed;
  if (tally.deny !== undefined) return { ...tally.deny, steps };
  if (!tally.spoken && binding.default !== 'allow') {
    steps?.push({ source: 'default', effect: binding.default });
    if (binding.default === 'deny')
      return makeVerdict('deny', {
        reason: 'denied_by_default',
        source: 'default',
        message: 'No rule allows this call, and what is not allowed is denied here.',
        steps,
      });
    if (tally.ask === undefined)
      return makeVerdict('ask', { source: 'default', prompt: titleOf(binding, undefined), steps });
  }
  return { ...(tally.ask ?? tally.allow ?? allowed), steps };
}

/** The gates of a tool in a session, in the order of their layers. Made once a refresh. */
function judgesOf(binding: Binding): readonly Judge[] {
  if (binding.judges === undefined) {
    const { registryRules, policies, sessionRules, sessionPolicies, entry } = binding;
    const judges: Judge[] = [];
    if (registryRules.length > 0) judges.push(rulesJudge(registryRules));
    for (const policy of policies) judges.push(policyJudge(policy, 'registry'));
    if (sessionRules.length > 0) judges.push(rulesJudge(sessionRules));
    for (const policy of sessionPolicies) judges.push(policyJudge(policy, 'session'));
    if (entry.internals.check !== undefined) judges.push(checkJudge(entry.internals.check));
    if (binding.profileAsks || entry.internals.requiresApproval !== false)
      judges.push(approvalJudge);
    binding.judges = judges;
  }
  return binding.judges as readonly Judge[];
}

function rulesJudge(rules: readonly CompiledRule[]): Judge {
  // Worded once: a rule denies in the same words each time.
  const denials = rules.map(
    ({ effect, id: ruleId, layer: source, reason }): Verdict | undefined => {
      if (effect !== 'deny') return undefined;
      const denial = makeVerdict('deny', { reason, ruleId, source });
      return Object.freeze({ ...denial, text: denialText(denial) });
    },
  );
  return (call, tally) => {
    let judged: Judged | undefined;
    for (let index = 0; index < rules.length; index++) {
      const rule = rules[index] as CompiledRule;
      if (rule.hasWhen) {
        judged ??= judgedOf(call);
        const verdict = matchOf(rule, judged);
        if (verdict === 'over budget') {
          tally.steps?.push({
            source: rule.layer,
            ruleId: rule.id,
            effect: 'deny',
            reason: 'rules_over_budget',
          });
          tally.deny = makeVerdict('deny', {
            code: 'policy_error',
            reason: 'rules_over_budget',
            ruleId: rule.id,
            source: rule.layer,
            message:
              'The call was refused because its arguments are too large to be judged by the ' +
              'rules. Send less.',
          });
          return;
        }
        if (!verdict) continue;
      }
      const { id: ruleId, layer: source } = rule;
      tally.steps?.push({ source, ruleId, effect: rule.effect });
      tally.spoken = true;
      if (rule.effect === 'deny') {
        tally.deny = denials[index];
        return;
      }
      if (rule.effect === 'ask')
        tally.ask ??= makeVerdict('ask', {
          ruleId,
          source,
          prompt: titleOf(call.binding as Binding, undefined),
        });
      else tally.allow ??= makeVerdict('allow', { ruleId, source });
    }
  };
}

function policyJudge(policy: Policy<unknown>, source: string): Judge {
  const gate: Gate = {
    source,
    what: 'policy',
    id: policy.id,
    allowed: makeVerdict('allow', { source, ruleId: policy.id }),
  };
  return (call, tally) => {
    const run = (): unknown => {
      const { entry, knobs } = call.binding as Binding;
      return policy.check({
        tool: entry.summary,
        input: cloneJson(call.canonical),
        context: call.info(),
        knobs: knobs as JsonObject,
      });
    };
    return guarded(call, tally, gate, run, (answer) => vote(call, tally, gate, answer));
  };
}

const allowedByTool = makeVerdict('allow', { source: 'tool' });
const checkGate: Gate = { source: 'tool', what: 'check', id: undefined, allowed: allowedByTool };

function checkJudge(check: NonNullable<Binding['entry']['internals']['check']>): Judge {
  return (call, tally) => {
    if (lacksInput(call, tally)) return undefined;
    const run = (): unknown => {
      const { knobs } = call.binding as Binding;
      const input = freshParse(call);
      const context = call.info();
      const judgeInput = (own: unknown): unknown =>
        check({ input: own, knobs, context, allow, ask, deny });
      return input instanceof Promise ? input.then(judgeInput) : judgeInput(input);
    };
    return guarded(call, tally, checkGate, run, (answer) => vote(call, tally, checkGate, answer));
  };
}

/**
 * `explain` without an input that the schema takes: what a tool's own code would say of one cannot
 * be told. A call is always validated before.
 */
function lacksInput(call: Call, tally: Tally): boolean {
  if (tally.steps === undefined || call.parsed !== undefined) return false;
  tally.steps.push({ source: 'tool', note: 'no input was given' });
  return true;
}

/** Host code that judges: where it stands, and what it is called in logs. */
interface Gate {
  readonly source: string;
  readonly what: 'policy' | 'check' | 'requiresApproval';
  /** The policy's. */
  readonly id: string | undefined;
  /** Its yes, the same each time. */
  readonly allowed: Verdict;
}

/** Runs one gate of host code, now or later, within its time; whatever goes wrong denies. */
function guarded(
  call: Call,
  tally: Tally,
  gate: Gate,
  run: () => unknown,
  read: (answer: unknown) => void,
): void | Promise<void> {
  const threw = (thrown: unknown): void => {
    reportFault(
      call,
      thrown,
      gate.what,
      `\`${gate.id ?? gate.what}\` threw, so the call was refused`,
    );
    refuse(tally, gate, 'policy_threw', thrown);
  };
  try {
    const answer = run();
    if (!isThenable(answer)) return read(answer);
    return answerInTime(call, answer, call.session.registry.policyTimeoutMs).then(
      (settled) => (settled === tooLate ? refuse(tally, gate, 'policy_timeout') : read(settled)),
      threw,
    );
  } catch (error) {
    return threw(error);
  }
}

/** A gate that failed rather than decided. */
function refuse(tally: Tally, { source, id }: Gate, reason: string, cause?: unknown): void {
  tally.steps?.push({ source, effect: 'deny', reason });
  tally.deny = makeVerdict('deny', { code: 'policy_error', reason, source, ruleId: id, cause });
}

/**
 * A gate answered what is no decision: the host has to be told what came, and what was expected.
 */
function nonsense(call: Call, tally: Tally, gate: Gate, expected: string, answer: unknown): void {
  const fault = new MisuseError(
    'invalid_option',
    `Expected \`${gate.id ?? gate.what}\` to answer ${expected}, got ${describe(answer)}.`,
  );
  reportFault(
    call,
    fault,
    gate.what,
    `\`${gate.id ?? gate.what}\` answered what is no decision, so the call was refused`,
  );
  refuse(tally, gate, 'policy_nonsense', fault);
}

function vote(call: Call, tally: Tally, gate: Gate, answer: unknown): void {
  if (answer === undefined && gate.what === 'policy') return;
  const decision = safeRead(answer);
  if (decision === 'nonsense')
    return nonsense(
      call,
      tally,
      gate,
      `allow(), ask(), deny(reason)${gate.what === 'policy' ? ' or undefined' : ''}`,
      answer,
    );
  const { source, id } = gate;
  tally.spoken = true;
  tally.steps?.push({
    source,
    ...(id === undefined ? {} : { ruleId: id }),
    effect: decision.effect,
    ...(decision.effect === 'deny' ? { reason: decision.reason } : {}),
  });
  switch (decision.effect) {
    case 'deny':
      tally.deny = denied(
        decision.reason,
        Object.hasOwn(decision, 'message') ? decision.message : undefined,
        source,
        id,
      );
      return;
    case 'ask':
      tally.ask ??= makeVerdict('ask', {
        source,
        ruleId: id,
        prompt: titleOf(
          call.binding as Binding,
          Object.hasOwn(decision, 'prompt') ? decision.prompt : undefined,
        ),
      });
      return;
    case 'allow':
      tally.allow ??= gate.allowed;
  }
}

function safeRead(answer: unknown): Decision | 'nonsense' {
  try {
    return readDecision(answer);
  } catch {
    return 'nonsense';
  }
}

const approvalGate: Gate = {
  source: 'tool',
  what: 'requiresApproval',
  id: undefined,
  allowed: allowedByTool,
};

/** `requiresApproval` of the definition and of the profile. An allow never lifts it. */
const approvalJudge: Judge = (call, tally) => {
  const { entry, profileAsks } = call.binding as Binding;
  const { requiresApproval } = entry.internals;
  const asks = (prompt: ApprovalPrompt): void => {
    tally.steps?.push({ source: 'tool', effect: 'ask' });
    // The tool's own wording beats a rule's, the rule stays named.
    const { ask: asked } = tally;
    const ruleId = asked?.ruleId;
    const source = asked?.source ?? 'tool';
    const words = asked?.prompt;
    const message =
      prompt.message ??
      (words !== undefined && words.title !== titleOf(call.binding as Binding, undefined).title
        ? words.title
        : undefined);
    tally.ask = makeVerdict('ask', {
      source,
      ruleId,
      prompt: message === undefined ? prompt : { ...prompt, message },
    });
  };
  const plain = titleOf(call.binding as Binding, undefined);
  const read = (answer: unknown): void => {
    if (answer === true || (answer === false && profileAsks)) return asks(plain);
    if (answer === false) return undefined;
    const prompt = readPrompt(answer);
    return prompt === undefined
      ? nonsense(call, tally, approvalGate, 'a boolean or { title, message?, risk? }', answer)
      : asks(prompt);
  };
  if (typeof requiresApproval !== 'function') return read(requiresApproval);
  if (lacksInput(call, tally)) return profileAsks ? asks(plain) : undefined;
  const run = (): unknown => {
    const input = freshParse(call);
    return input instanceof Promise
      ? input.then((own) => requiresApproval(own, call.info()))
      : requiresApproval(input, call.info());
  };
  return guarded(call, tally, approvalGate, run, read);
};

function titleOf(binding: Binding, prompt: string | undefined): ApprovalPrompt {
  return { title: prompt ?? usualTitle(binding.entry) };
}
