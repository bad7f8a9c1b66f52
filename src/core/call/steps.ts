/**
 * The list of steps that calls of one tool take in one session. It is made when the tool is first
 * called, and again with its binding. What may change without that, such as hooks, a step asks
 * about itself. `explain` goes through the same list.
 */

import type { Binding } from './binding.ts';
import type { FoundCall } from './call.ts';
import { inPhase } from './call-tracers.ts';
import type { ToolGates } from './ports.ts';
import { recheck } from './recheck.ts';
import { threw } from './settle.ts';
import { acquire } from './stages/acquire.ts';
import { approve } from './stages/approve.ts';
import { beforeHooks } from './stages/before-hooks.ts';
import { announceVerdict, decide } from './stages/decide.ts';
import { loopGuard } from './stages/loop-guard.ts';
import { prepare } from './stages/prepare.ts';
import { validate } from './stages/validate.ts';
import { start } from './start.ts';
import { type CallStep, places, type Step } from './step.ts';

/** The steps of a call, in order. */
export function stepsOf(binding: Binding): readonly CallStep[] {
  binding.steps ??= makeSteps(binding);
  return binding.steps;
}

function makeSteps({ entry, status: { drop, masking, gates } }: Binding): readonly CallStep[] {
  const { handler } = entry.internals;
  if (
    drop !== 'denied' &&
    masking === undefined &&
    handler !== undefined &&
    gates.every(({ start, keep }) => start === undefined && keep === undefined)
  )
    return ordinary;
  return [
    hooks,
    // A tool that a rule hides must not reveal its schema. The next gate refuses any input.
    ...when(drop !== 'denied', masking === undefined ? validation : maskedValidation),
    guard,
    policy,
    approval,
    slots,
    again,
    ...keeping(gates),
    ...gates.flatMap(({ start: run, tryStart: attempt }): CallStep[] =>
      run === undefined ? [] : [{ place: places.start, run, attempt }],
    ),
    ...when(handler === undefined, place),
    audit,
    running,
  ];
}

/** One step for all gates with a store, and what each of them says to `explain`. */
function keeping(gates: readonly ToolGates[]): readonly CallStep[] {
  const keepers = gates.flatMap(({ keep }) => keep ?? []);
  const [first] = keepers;
  if (first === undefined) return [];
  const [attempt, ...more] = gates.flatMap(({ keep, tryStart }) =>
    keep === undefined || tryStart === undefined ? [] : [tryStart],
  );
  return [
    { place: places.start, run: first.all(keepers.map(({ ask }) => ask)), attempt },
    ...more.map((one): CallStep => ({ place: places.start, run: () => undefined, attempt: one })),
  ];
}

function when(condition: boolean, step: CallStep): readonly CallStep[] {
  return condition ? [step] : [];
}

const hooks: CallStep = {
  place: places.hooks,
  run: (call) => (call.session.hooks.length === 0 ? undefined : beforeHooks(call)),
};

const validation: CallStep = { place: places.validation, run: validate };

const maskedValidation: CallStep = {
  place: places.validation,
  run(call) {
    const { masking } = call.binding.status;
    masking?.collectInput(call);
    const outcome = validate(call);
    if (!(outcome instanceof Promise)) {
      masking?.collectParse(call);
      return outcome;
    }
    return outcome.then((settled) => {
      masking?.collectParse(call);
      return settled;
    });
  },
};

const guard: CallStep = {
  place: places.loopGuard,
  run: (call) => (typeof call.session.limits.loopGuard === 'number' ? loopGuard(call) : undefined),
};

const policy: CallStep = {
  place: places.policy,
  run: (call) => inPhase(call, 'policy', decideAndTell),
};

/** Decides, and announces the verdict, even if it is a denial. */
export function decideAndTell(call: FoundCall): Step {
  const outcome = decide(call);
  if (outcome instanceof Promise) {
    return outcome.then((settled) => {
      if (!call.ended) announceVerdict(call);
      return settled;
    });
  }
  if (!call.ended) announceVerdict(call);
  return outcome;
}

const approval: CallStep = {
  place: places.approval,
  run(call) {
    // An allowed call without extras neither has an answer nor needs one.
    if (call.verdict?.effect !== 'ask' && call.extra === undefined) return undefined;
    return isAsked(call) ? inPhase(call, 'approval', approve) : approve(call);
  },
};

/** Whether the call needs the answer of a person, or brings one. */
function isAsked({ approved, verdict, resumed, extra }: FoundCall): boolean {
  if (approved) return false;
  return (
    verdict?.effect === 'ask' ||
    (resumed?.answer !== undefined && extra?.approval?.answered !== true)
  );
}

const slots: CallStep = {
  place: places.slots,
  run: (call) =>
    call.binding.isBounded || call.options?.resourceKey !== undefined ? acquire(call) : undefined,
};

const again: CallStep = { place: places.recheck, run: recheck };

const place: CallStep = {
  place: places.handler,
  run: (call) => (call.binding.handler?.now === undefined ? prepare(call, threw) : undefined),
};

// Observers may come at any time, and a call that has to be recorded must not run without it.
const audit: CallStep = {
  place: places.audit,
  run: (call) => call.session.registry.observers?.starting(call),
};

const running: CallStep = {
  place: places.run,
  run(call) {
    start(call);
    return undefined;
  },
};

/** The steps of a tool that no part has a gate for, and whose handler runs here. */
export const ordinary: readonly CallStep[] = Object.freeze([
  hooks,
  validation,
  guard,
  policy,
  approval,
  slots,
  again,
  audit,
  running,
]);
