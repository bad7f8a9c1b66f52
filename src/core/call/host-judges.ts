/**
 * The gates that run the host's code: policies, and a tool's `check` and `requiresApproval`. A gate
 * that throws, takes too long or returns something else denies the call.
 */

import type { ApprovalPrompt } from '../../api/approval.ts';
import type { CallInfo } from '../../api/context.ts';
import type { Decision, Policy, PolicySubject } from '../../api/policy.ts';
import type { ToolSummary } from '../../api/tool.ts';
import { cloneJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { readPrompt } from '../approval/read-prompt.ts';
import { allow, ask, deny, readDecision } from '../rules/decision.ts';
import { bothDetails, type Details, denied, makeVerdict, type Verdict } from '../rules/verdict.ts';
import { promptOf } from './approval-question.ts';
import type { Binding } from './binding.ts';
import type { FoundCall } from './call.ts';
import { freshParse } from './fresh-parse.ts';
import { guarded, nonsense } from './guarded.ts';
import type { Gate, Judge, Tally } from './tally.ts';

const allowedByTool = makeVerdict('allow', { source: 'tool' });
const checkGate: Gate = { source: 'tool', what: 'check', id: undefined, allowed: allowedByTool };
const approvalGate: Gate = {
  source: 'tool',
  what: 'requiresApproval',
  id: undefined,
  allowed: allowedByTool,
};

/** A class, so that a signal is made only for a policy that reads it. */
class Subject implements PolicySubject {
  readonly #call: FoundCall;
  readonly tool: ToolSummary;
  readonly input: JsonObject;
  readonly context: CallInfo;
  readonly knobs: JsonObject;
  readonly facts: JsonObject;
  readonly surface: string;
  readonly attributes: JsonObject;

  constructor(call: FoundCall) {
    const {
      entry,
      status: { knobs },
    } = call.binding;
    this.#call = call;
    this.tool = entry.summary;
    this.input = cloneJson(call.canonical);
    this.context = call.info();
    this.knobs = knobs as JsonObject;
    this.facts = call.session.facts;
    this.surface = call.surfaceName;
    this.attributes = attributesOf(call);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
Object.freeze(Subject.prototype);

/** Shared, since every question to a policy has one. */
const noAttributes: JsonObject = Object.freeze({});

/** The attributes as policies get them, without the paths that have no answer. */
function attributesOf(call: FoundCall): JsonObject {
  const answers = call.session.registry.ports.calls.attributesOf?.(call);
  if (answers === undefined) return noAttributes;
  const known = [...answers].filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return Object.freeze(Object.fromEntries(known));
}

export function policyJudge(policy: Policy<unknown>, source: string): Judge {
  const gate: Gate = {
    source,
    what: 'policy',
    id: policy.id,
    allowed: makeVerdict('allow', { source, ruleId: policy.id }),
  };
  const run = (call: FoundCall): unknown => policy.check(new Subject(call));
  return (call, tally) => guarded(call, tally, gate, run, vote);
}

export function checkJudge(check: NonNullable<Binding['entry']['internals']['check']>): Judge {
  const run = (call: FoundCall): unknown => {
    const { knobs } = call.binding.status;
    const input = freshParse(call);
    const context = call.info();
    if (input instanceof Promise)
      return input.then((own) => check({ input: own, knobs, context, allow, ask, deny }));
    return check({ input, knobs, context, allow, ask, deny });
  };
  return (call, tally) =>
    lacksInput(call, tally) ? undefined : guarded(call, tally, checkGate, run, vote);
}

/**
 * `requiresApproval` of the definition and of the profile. No rule that allows the call lifts it.
 */
export const approvalJudge: Judge = (call, tally) => {
  const {
    entry,
    status: { profileAsks },
  } = call.binding;
  const { requiresApproval } = entry.internals;
  const plain = promptOf(entry);
  const read = (to: Tally, answer: unknown): void => {
    if (answer === true || (answer === false && profileAsks)) return askWith(call, to, plain);
    if (answer === false) return undefined;
    const prompt = readPrompt(answer);
    const named = prompt?.approvers;
    const details =
      named && call.session.registry.ports.calls.answers?.details({ approvers: named });
    return prompt === undefined || (named !== undefined && details === undefined)
      ? nonsense(call, to, approvalGate, promptForm, answer)
      : askWith(call, to, prompt, details);
  };
  if (typeof requiresApproval !== 'function') return read(tally, requiresApproval);
  if (lacksInput(call, tally)) return profileAsks ? askWith(call, tally, plain) : undefined;
  const run = (): unknown => {
    const input = freshParse(call);
    return input instanceof Promise
      ? input.then((own) => requiresApproval(own, call.info()))
      : requiresApproval(input, call.info());
  };
  return guarded(call, tally, approvalGate, run, (_call, to, _gate, answer) => read(to, answer));
};

const promptForm = 'a boolean or { title, message?, risk?, approvers? }';

/**
 * The tool's own title and message replace those of a rule. The rule's title becomes the message,
 * and the rule stays named.
 */
function askWith(
  { binding }: FoundCall,
  tally: Tally,
  prompt: ApprovalPrompt,
  details?: Details,
): void {
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
    details: bothDetails(asked?.details, details),
  });
}

/**
 * Whether the tool's own code must be skipped, because `explain` has no input that the schema
 * accepts. A call is always validated first.
 */
function lacksInput(call: FoundCall, tally: Tally): boolean {
  if (tally.steps === undefined || call.parsed !== undefined) return false;
  tally.steps.push({ source: 'tool', note: 'no input was given' });
  return true;
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
  tally.decided = true;
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
      tally.allow ??= gate.allowed as Verdict;
  }
}

function safeRead(answer: unknown): Decision | 'nonsense' {
  try {
    return readDecision(answer);
  } catch {
    return 'nonsense';
  }
}
