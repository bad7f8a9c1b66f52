/**
 * The gates that run the host's code: policies, and a tool's `check` and `requiresApproval`. A gate
 * that throws, takes too long or returns something else denies the call.
 */
import { type ApprovalPrompt, readPrompt } from '../approval/request.ts';
import { describe, MisuseError } from '../errors.ts';
import { cloneJson, type JsonObject } from '../json.ts';
import { isThenable } from '../maybe-promise.ts';
import { allow, ask, type Decision, deny, readDecision } from '../policy/decision.ts';
import type { Policy } from '../policy/policy.ts';
import { denied, makeVerdict, type Verdict } from '../policy/verdict.ts';
import type { Binding } from '../state/binding.ts';
import type { FoundCall } from '../state/call.ts';
import { promptOf } from './approval-question.ts';
import { freshParse } from './fresh-parse.ts';
import { reportFault } from './report-fault.ts';
import type { Judge, Tally } from './tally.ts';
import { answerInTime, tooLate } from './with-deadline.ts';

/** What logs, events and verdicts say about a gate. */
interface Gate {
  /** The layer: `registry`, `session` or `tool`. */
  readonly source: string;
  readonly what: 'policy' | 'check' | 'requiresApproval';
  /** The id of a policy. */
  readonly id: string | undefined;
  /** The gate's allowance, which is the same each time. */
  readonly allowed: Verdict;
}

const allowedByTool = makeVerdict('allow', { source: 'tool' });
const checkGate: Gate = { source: 'tool', what: 'check', id: undefined, allowed: allowedByTool };
const approvalGate: Gate = {
  source: 'tool',
  what: 'requiresApproval',
  id: undefined,
  allowed: allowedByTool,
};

export function policyJudge(policy: Policy<unknown>, source: string): Judge {
  const gate: Gate = {
    source,
    what: 'policy',
    id: policy.id,
    allowed: makeVerdict('allow', { source, ruleId: policy.id }),
  };
  const run = (call: FoundCall): unknown => {
    const { entry, knobs } = call.binding;
    return policy.check({
      tool: entry.summary,
      input: cloneJson(call.canonical),
      context: call.info(),
      knobs: knobs as JsonObject,
    });
  };
  return (call, tally) => guarded(call, tally, gate, run, vote);
}

export function checkJudge(check: NonNullable<Binding['entry']['internals']['check']>): Judge {
  const run = (call: FoundCall): unknown => {
    const { knobs } = call.binding;
    const input = freshParse(call);
    const context = call.info();
    if (input instanceof Promise)
      return input.then((own) => check({ input: own, knobs, context, allow, ask, deny }));
    return check({ input, knobs, context, allow, ask, deny });
  };
  return (call, tally) =>
    lacksInput(call, tally) ? undefined : guarded(call, tally, checkGate, run, vote);
}

/** `requiresApproval` of the definition and of the profile. No allowance lifts it. */
export const approvalJudge: Judge = (call, tally) => {
  const { entry, profileAsks } = call.binding;
  const { requiresApproval } = entry.internals;
  const plain = promptOf(entry);
  const read = (answer: unknown): void => {
    if (answer === true || (answer === false && profileAsks)) return askWith(call, tally, plain);
    if (answer === false) return undefined;
    const prompt = readPrompt(answer);
    return prompt === undefined
      ? nonsense(call, tally, approvalGate, 'a boolean or { title, message?, risk? }', answer)
      : askWith(call, tally, prompt);
  };
  if (typeof requiresApproval !== 'function') return read(requiresApproval);
  if (lacksInput(call, tally)) return profileAsks ? askWith(call, tally, plain) : undefined;
  const run = (): unknown => {
    const input = freshParse(call);
    return input instanceof Promise
      ? input.then((own) => requiresApproval(own, call.info()))
      : requiresApproval(input, call.info());
  };
  return guarded(call, tally, approvalGate, run, (_call, _tally, _gate, answer) => read(answer));
};

/** The tool's own wording replaces a rule's, which becomes the message; the rule stays named. */
function askWith({ binding }: FoundCall, tally: Tally, prompt: ApprovalPrompt): void {
  tally.steps?.push({ source: 'tool', effect: 'ask' });
  const { ask: asked } = tally;
  const words = asked?.prompt;
  const message =
    prompt.message ??
    (words !== undefined && words.title !== promptOf(binding.entry).title
      ? words.title
      : undefined);
  tally.ask = makeVerdict('ask', {
    source: asked?.source ?? 'tool',
    ruleId: asked?.ruleId,
    prompt: message === undefined ? prompt : { ...prompt, message },
  });
}

/**
 * Whether the tool's own code must be skipped, because `explain` was given no input that the schema
 * accepts. A call is always validated first.
 */
function lacksInput(call: FoundCall, tally: Tally): boolean {
  if (tally.steps === undefined || call.parsed !== undefined) return false;
  tally.steps.push({ source: 'tool', note: 'no input was given' });
  return true;
}

/**
 * Runs one gate within its time. Whatever goes wrong denies the call. Its functions take the call as
 * an argument, so that a gate that answers at once needs no closure per call.
 */
function guarded(
  call: FoundCall,
  tally: Tally,
  gate: Gate,
  run: (call: FoundCall) => unknown,
  read: (call: FoundCall, tally: Tally, gate: Gate, answer: unknown) => void,
): void | Promise<void> {
  try {
    const answer = run(call);
    if (!isThenable(answer)) return read(call, tally, gate, answer);
    return answerInTime(call, answer, call.session.registry.policyTimeoutMs).then(
      (settled) =>
        settled === tooLate
          ? refuse(tally, gate, 'policy_timeout')
          : read(call, tally, gate, settled),
      (thrown: unknown) => threw(call, tally, gate, thrown),
    );
  } catch (error) {
    return threw(call, tally, gate, error);
  }
}

function threw(call: FoundCall, tally: Tally, gate: Gate, thrown: unknown): void {
  reportFault(
    call,
    thrown,
    gate.what,
    `\`${gate.id ?? gate.what}\` threw, so the call was refused`,
  );
  refuse(tally, gate, 'policy_threw', thrown);
}

/** Denies a call because a gate failed, as opposed to a gate that decided. */
function refuse(tally: Tally, { source, id }: Gate, reason: string, cause?: unknown): void {
  tally.steps?.push({ source, effect: 'deny', reason });
  tally.deny = makeVerdict('deny', { code: 'policy_error', reason, source, ruleId: id, cause });
}

/** Denies a call because a gate returned no decision, and logs what it returned for the host. */
function nonsense(
  call: FoundCall,
  tally: Tally,
  gate: Gate,
  expected: string,
  answer: unknown,
): void {
  const name = gate.id ?? gate.what;
  const fault = new MisuseError(
    'invalid_option',
    `Expected \`${name}\` to return ${expected}, got ${describe(answer)}.`,
  );
  reportFault(
    call,
    fault,
    gate.what,
    `\`${name}\` did not return a decision, so the call was refused`,
  );
  refuse(tally, gate, 'policy_nonsense', fault);
}

function vote(call: FoundCall, tally: Tally, gate: Gate, answer: unknown): void {
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
        prompt: promptOf(
          call.entry,
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
