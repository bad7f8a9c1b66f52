/** Policy: every gate's word on one call, weighed. The only code that reaches a verdict; `call` and `explain` both use it. */
import { type ApprovalPrompt, readPrompt } from '../approval/request.ts';
import { bounded, late } from '../call/bounded.ts';
import { freshParse } from '../call/fresh-parse.ts';
import type { Outcome, Step } from '../call/step.ts';
import { allow, ask, type Decision, deny, readDecision } from '../decision.ts';
import { toolError } from '../errors.ts';
import { cloneJson, type JsonObject } from '../json.ts';
import type { Policy } from '../policy.ts';
import type { CompiledRule } from '../rules.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import type { Verdict } from '../verdict.ts';

const allowed: Verdict = Object.freeze({ effect: 'allow', source: 'default' });

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
  return verdict instanceof Promise ? verdict.then((settled) => conclude(call, settled)) : conclude(call, verdict);
}

function conclude(call: Call, verdict: Verdict): Outcome {
  if (call.ended) return undefined;
  call.verdict = verdict;
  if (verdict.effect !== 'deny') return undefined;
  const { code = 'policy_denied', reason, ruleId, source } = verdict;
  return toolError(code, verdict.message ?? verdict.text ?? denialText(verdict), { reason, ruleId, source });
}

/** What the model is told of a denial that nobody worded. */
function denialText({ code, reason, ruleId }: Verdict): string {
  if (code === 'policy_error') return `The call was refused because a policy failed (${reason}).`;
  return `The call was denied${ruleId === undefined ? '' : ` by rule \`${ruleId}\``}: ${reason}. Do not repeat it as it is.`;
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

function weigh(call: Call, tally: Tally, judges: readonly Judge[], from: number): Verdict | Promise<Verdict> {
  for (let index = from; index < judges.length && tally.deny === undefined; index++) {
    const later = (judges[index] as Judge)(call, tally);
    if (later !== undefined) {
      call.waited = true;
      return later.then(() => weigh(call, tally, judges, index + 1));
    }
  }
  return verdictOf(call.binding as Binding, tally);
}

function verdictOf(binding: Binding, tally: Tally): Verdict {
  const { steps } = tally;
  // The common ways, without a copy.
  if (steps === undefined && tally.deny !== undefined) return tally.deny;
  if (steps === undefined && (tally.spoken || binding.default === 'allow')) return tally.ask ?? tally.allow ?? allowed;
  const kept = steps === undefined ? {} : { steps };
  if (tally.deny !== undefined) return { ...tally.deny, ...kept };
  if (!tally.spoken && binding.default !== 'allow') {
    steps?.push({ source: 'default', effect: binding.default });
    if (binding.default === 'deny')
      return {
        effect: 'deny',
        reason: 'denied_by_default',
        source: 'default',
        message: 'No rule allows this call, and what is not allowed is denied here.',
        ...kept,
      };
    if (tally.ask === undefined) return { effect: 'ask', source: 'default', prompt: titleOf(binding, undefined), ...kept };
  }
  if (tally.ask !== undefined) return { ...tally.ask, ...kept };
  return { ...(tally.allow ?? allowed), ...kept };
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
    if (binding.profileAsks || entry.internals.requiresApproval !== false) judges.push(approvalJudge);
    binding.judges = judges;
  }
  return binding.judges as readonly Judge[];
}

function rulesJudge(rules: readonly CompiledRule[]): Judge {
  // Worded once: a rule denies in the same words each time.
  const denials = rules.map(({ effect, id: ruleId, layer: source, reason = 'denied_by_rule' }): Verdict | undefined => {
    const denial: Verdict = { effect: 'deny', reason, ruleId, source };
    return effect === 'deny' ? Object.freeze({ ...denial, text: denialText(denial) }) : undefined;
  });
  return (call, tally) => {
    // `when` may look for a default; the handler's parse is only read here, and only where the canonical input lacks the path.
    const parse = (): unknown => call.parsed;
    for (let index = 0; index < rules.length; index++) {
      const rule = rules[index] as CompiledRule;
      if (rule.hasWhen && !rule.matches(call.canonical, parse)) continue;
      const { id: ruleId, layer: source } = rule;
      tally.steps?.push({ source, ruleId, effect: rule.effect });
      tally.spoken = true;
      if (rule.effect === 'deny') {
        tally.deny = denials[index];
        return;
      }
      if (rule.effect === 'ask') tally.ask ??= { effect: 'ask', ruleId, source, prompt: titleOf(call.binding as Binding, undefined) };
      else tally.allow ??= { effect: 'allow', ruleId, source };
    }
  };
}

function policyJudge(policy: Policy<unknown>, source: string): Judge {
  return (call, tally) =>
    guarded(call, tally, policy.id, source, true, () => {
      const { entry, knobs } = call.binding as Binding;
      return policy.check({ tool: entry.summary, input: cloneJson(call.canonical), context: call.info(), knobs: knobs as JsonObject });
    });
}

function checkJudge(check: NonNullable<Binding['entry']['internals']['check']>): Judge {
  return (call, tally) =>
    lacksInput(call, tally)
      ? undefined
      : guarded(call, tally, undefined, 'tool', false, () => {
          const { knobs } = call.binding as Binding;
          const input = freshParse(call);
          const context = call.info();
          const run = (own: unknown): unknown => check({ input: own, knobs, context, allow, ask, deny });
          return input instanceof Promise ? input.then(run) : run(input);
        });
}

/** `explain` without an input that the schema takes: what a tool's own code would say of one cannot be told. A call is always validated before. */
function lacksInput(call: Call, tally: Tally): boolean {
  if (tally.steps === undefined || call.parsed !== undefined) return false;
  tally.steps.push({ source: 'tool', note: 'no input was given' });
  return true;
}

/** Runs one gate of host code, now or later, within its time; whatever goes wrong denies. */
function guarded(call: Call, tally: Tally, id: string | undefined, source: string, mayAbstain: boolean, run: () => unknown): void | Promise<void> {
  const note = (answer: unknown): void => vote(call, tally, id, source, answer, mayAbstain);
  const failed = (reason: string): void => {
    tally.steps?.push({ source, effect: 'deny', reason });
    tally.deny = { effect: 'deny', code: 'policy_error', reason, source, ...(id === undefined ? {} : { ruleId: id }) };
  };
  try {
    const answer = run();
    if (typeof answer !== 'object' || answer === null || typeof (answer as PromiseLike<unknown>).then !== 'function') {
      note(answer);
      return undefined;
    }
    const { policyTimeoutMs } = call.session.registry;
    return bounded(call, answer as PromiseLike<unknown>, policyTimeoutMs).then(
      (settled) => (settled === late ? failed('policy_timeout') : note(settled)),
      () => failed('policy_threw'),
    );
  } catch {
    failed('policy_threw');
    return undefined;
  }
}

function vote(call: Call, tally: Tally, id: string | undefined, source: string, answer: unknown, mayAbstain: boolean): void {
  if (answer === undefined && mayAbstain) return;
  const decision = safeRead(answer);
  const named = id === undefined ? {} : { ruleId: id };
  if (decision === 'nonsense') {
    tally.steps?.push({ source, effect: 'deny', reason: 'policy_nonsense' });
    tally.deny = { effect: 'deny', code: 'policy_error', reason: 'policy_nonsense', source, ...named };
    return;
  }
  tally.spoken = true;
  tally.steps?.push({ source, ...named, effect: decision.effect, ...(decision.effect === 'deny' ? { reason: decision.reason } : {}) });
  switch (decision.effect) {
    case 'deny':
      tally.deny = { effect: 'deny', reason: decision.reason, source, ...named, ...(decision.message === undefined ? {} : { message: decision.message }) };
      return;
    case 'ask':
      tally.ask ??= { effect: 'ask', source, ...named, prompt: titleOf(call.binding as Binding, decision.prompt) };
      return;
    case 'allow':
      tally.allow ??= { effect: 'allow', source, ...named };
  }
}

function safeRead(answer: unknown): Decision | 'nonsense' {
  try {
    return readDecision(answer);
  } catch {
    return 'nonsense';
  }
}

/** `requiresApproval` of the definition and of the profile. An allow never lifts it. */
const approvalJudge: Judge = (call, tally) => {
  const { entry, profileAsks } = call.binding as Binding;
  const { requiresApproval } = entry.internals;
  const asks = (prompt: ApprovalPrompt): void => {
    tally.steps?.push({ source: 'tool', effect: 'ask' });
    // The tool's own wording beats a rule's, the rule stays named.
    const { ruleId, source = 'tool' } = tally.ask ?? {};
    const words = tally.ask?.prompt;
    const message = prompt.message ?? (words !== undefined && words.title !== titleOf(call.binding as Binding, undefined).title ? words.title : undefined);
    tally.ask = { effect: 'ask', source, ...(ruleId === undefined ? {} : { ruleId }), prompt: message === undefined ? prompt : { ...prompt, message } };
  };
  const plain = titleOf(call.binding as Binding, undefined);
  const read = (answer: unknown): void => {
    if (answer === true || (answer === false && profileAsks)) return asks(plain);
    if (answer === false) return undefined;
    const prompt = readPrompt(answer);
    if (prompt !== undefined) return asks(prompt);
    tally.steps?.push({ source: 'tool', effect: 'deny', reason: 'policy_nonsense' });
    tally.deny = { effect: 'deny', code: 'policy_error', reason: 'policy_nonsense', source: 'tool' };
    return undefined;
  };
  if (typeof requiresApproval !== 'function') return read(requiresApproval);
  if (lacksInput(call, tally)) return profileAsks ? asks(plain) : undefined;
  const failed = (reason: string): void => {
    tally.steps?.push({ source: 'tool', effect: 'deny', reason });
    tally.deny = { effect: 'deny', code: 'policy_error', reason, source: 'tool' };
  };
  try {
    const input = freshParse(call);
    const answer = input instanceof Promise ? input.then((own) => requiresApproval(own, call.info())) : requiresApproval(input, call.info());
    if (typeof answer !== 'object' || answer === null || typeof (answer as PromiseLike<unknown>).then !== 'function') return read(answer);
    return bounded(call, answer as PromiseLike<unknown>, call.session.registry.policyTimeoutMs).then(
      (settled) => (settled === late ? failed('policy_timeout') : read(settled)),
      () => failed('policy_threw'),
    );
  } catch {
    return failed('policy_threw');
  }
};

function titleOf(binding: Binding, prompt: string | undefined): ApprovalPrompt {
  return { title: prompt ?? `Allow \`${binding.entry.definition.title ?? binding.entry.name}\` to run?` };
}

/** The verdict as `explain` and events show it. */
export function decisionOf(verdict: Verdict): Decision {
  switch (verdict.effect) {
    case 'allow':
      return allow();
    case 'ask':
      return ask(verdict.prompt?.title);
    case 'deny':
      return deny(verdict.reason ?? 'denied_by_rule', verdict.message);
  }
}
