/** Asks a host's own gates. Whatever goes wrong denies the call. */

import type { CallGate, Gate, GateCall, OutputGate } from '../../api/gate.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import { cloneJson, type JsonValue } from '../../values/json/index.ts';
import type { FoundCall } from '../call/call.ts';
import { guarded, nonsense } from '../call/guarded.ts';
import { type Shaped, snapshotOf } from '../call/output-snapshot.ts';
import type { StartGate, ToolGates } from '../call/ports.ts';
import { shownNameOf } from '../call/shown.ts';
import type { Step } from '../call/step.ts';
import {
  type Answer,
  emptyTally,
  type Gate as GateNames,
  type Judge,
  type Tally,
} from '../call/tally.ts';
import { isReason } from '../rules/decision.ts';
import { denied, errorOf } from '../rules/verdict.ts';
import { Slot } from '../slot.ts';
import type { Layered } from './gate.ts';

/** The gates that have let a call start, each for this input. Asking them again would be a wait. */
const passed = new Slot<Map<Gate, unknown>>();

/** What the gates of a tool, in their order, add to its calls. */
export function askGates(all: readonly Layered[]): ToolGates {
  const judges = all.filter((one) => one.gate.at === 'judge') as Layered<CallGate>[];
  const starts = all.filter((one) => one.gate.at === 'start') as Layered<CallGate>[];
  const outputs = all.filter((one) => one.gate.at === 'output') as Layered<OutputGate>[];
  return {
    judges: judges.map(judgeOf),
    ...(starts.length === 0 ? {} : { start: startOf(starts) }),
    ...(outputs.length === 0 ? {} : { output: outputOf(outputs) }),
  };
}

function judgeOf({ gate, names, fault }: Layered<CallGate>): Judge {
  const run = runOf(gate, fault);
  return (call, tally) => {
    // `explain` was given no input.
    if (tally.steps !== undefined && call.input === undefined) {
      tally.steps.push({ source: names.source, ruleId: gate.name, note: 'no input was given' });
      return undefined;
    }
    return guarded(call, tally, names, run, readDenial);
  };
}

function runOf(gate: CallGate, fault: Layered['fault']): (call: FoundCall) => unknown {
  return (call) => {
    if (fault !== undefined) throw fault.thrown;
    return gate.run(gateCall(call));
  };
}

function gateCall(call: FoundCall): GateCall {
  const { callId: _, toolName: __, ...session } = call.info();
  return Object.freeze({
    tool: call.entry.summary,
    input: cloneJson(call.canonical),
    session: Object.freeze({ ...session, facts: call.session.facts }),
    callId: call.callId,
  });
}

/** Reads nothing, or a denial, by own members. */
function readDenial(call: FoundCall, tally: Tally, names: GateNames, answer: unknown): void {
  const { source, id } = names;
  if (answer === undefined || answer === null) {
    tally.steps?.push({ source, ruleId: id as string, note: 'passed' });
    return;
  }
  const denial = denialIn(answer);
  if (denial === undefined)
    return nonsense(call, tally, names, "nothing or { code: 'policy_denied', reason }", answer);
  tally.steps?.push({ source, ruleId: id as string, effect: 'deny', reason: denial.reason });
  tally.deny = denied(denial.reason, denial.message, source, id);
}

function denialIn(
  answer: unknown,
): { readonly reason: string; readonly message: string | undefined } | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  try {
    const { code, reason, message } = { __proto__: null, ...answer } as Partial<
      Record<string, unknown>
    >;
    if (code !== 'policy_denied' || !isReason(reason)) return undefined;
    if (message !== undefined && typeof message !== 'string') return undefined;
    return { reason, message };
  } catch {
    return undefined;
  }
}

function startOf(gates: readonly Layered<CallGate>[]): StartGate {
  const runs = gates.map(({ gate, names, fault }) => ({ gate, names, run: runOf(gate, fault) }));
  const from = (call: FoundCall, first: number): Step => {
    for (let index = first; index < runs.length; index++) {
      const { gate, names, run } = runs[index] as (typeof runs)[number];
      const { extra, canonical } = call;
      if (extra !== undefined && passed.of(extra)?.get(gate) === canonical) continue;
      const tally = emptyTally(undefined);
      const later = guarded(call, tally, names, run, readDenial);
      if (later !== undefined)
        return later.then((answer) => {
          (answer as Answer | undefined)?.(tally);
          if (call.ended || tally.deny !== undefined) return outcomeOf(tally);
          const before = passed.of(call.more) ?? new Map<Gate, unknown>();
          passed.set(call.more, before.set(gate, canonical));
          return undefined;
        });
      if (call.ended) return undefined;
      if (tally.deny !== undefined) return outcomeOf(tally);
    }
    return undefined;
  };
  return (call) => from(call, 0);
}

function outcomeOf({ deny }: Tally): ToolError | undefined {
  return deny === undefined ? undefined : errorOf(deny);
}

function outputOf(gates: readonly Layered<OutputGate>[]): NonNullable<ToolGates['output']> {
  const from = (call: FoundCall, given: Shaped, first: number): Shaped | Promise<Shaped> => {
    let shaped = given;
    for (let index = first; index < gates.length && shaped.ok && !call.ended; index++) {
      const { gate, names, fault } = gates[index] as Layered<OutputGate>;
      const { output } = shaped;
      const tally = emptyTally(undefined);
      let next: Shaped | undefined;
      const run = (): unknown => {
        if (fault !== undefined) throw fault.thrown;
        return gate.run(
          Object.freeze({ ...gateCall(call), output: cloneJson(output as JsonValue) }),
        );
      };
      const read = (to: FoundCall, into: Tally, of: GateNames, answer: unknown): void => {
        const replaced = replacementIn(answer);
        if (replaced === undefined) return readDenial(to, into, of, answer);
        next = snapshotOf(to, replaced.output);
        // It says the same in other words.
        if (to.extra?.outcome !== undefined) to.extra.outcome.alongside = undefined;
      };
      const later = guarded(call, tally, names, run, read);
      const settled = (): Shaped =>
        tally.deny === undefined
          ? (next ?? (shaped as Shaped))
          : { ok: false, error: withheld(call, tally) };
      if (later !== undefined) {
        const current = shaped;
        return later.then((answer) => {
          if (call.ended) return current;
          (answer as Answer | undefined)?.(tally);
          return from(call, settled(), index + 1);
        });
      }
      shaped = settled();
    }
    return shaped;
  };
  return (call, shaped) => from(call, shaped, 0);
}

function replacementIn(answer: unknown): { readonly output: unknown } | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  try {
    return Object.hasOwn(answer, 'output') && !Object.hasOwn(answer, 'code')
      ? { output: (answer as { output: unknown }).output }
      : undefined;
  } catch {
    return undefined;
  }
}

/** The error of a call whose handler has run, but whose output a gate keeps back. */
function withheld(call: FoundCall, tally: Tally): ToolError {
  call.more.ensureOutcome().withheld = true;
  const error = outcomeOf(tally) as ToolError;
  const { code, message, reason, ruleId, source } = error;
  const text =
    code === 'policy_error' || tally.deny?.message === undefined
      ? `\`${shownNameOf(call)}\` has run, but its output was withheld. ${message}`
      : message;
  const own = toolError(code, text, { reason, ruleId, source });
  return Object.hasOwn(error, 'cause') ? withCause(own, error.cause) : own;
}
