/** How the rules for runners run their programs. */
import assert from 'node:assert/strict';
import type {
  CodeAnswer,
  CodeOutcome,
  CodeProgram,
  CodeRequest,
  CodeRunner,
  MaybePromise,
} from '../../../core.ts';

/** What came of a program. */
interface Ran {
  readonly outcome: CodeOutcome;
  readonly logs: readonly string[];
  readonly requests: readonly CodeRequest[];
  readonly begun: number;
}

export type Ask = (request: CodeRequest) => MaybePromise<CodeAnswer>;

export const answer = (value: unknown): CodeAnswer => ({ ok: true, value: JSON.stringify(value) });

/** Runs a program whose calls are answered with their input. */
export async function ran(
  runner: CodeRunner,
  source: string,
  more: Partial<CodeProgram> = {},
  ask: Ask = ({ input }) => answer(JSON.parse(input)),
): Promise<Ran> {
  const logs: string[] = [];
  const requests: CodeRequest[] = [];
  let begun = 0;
  const outcome = await runner.run({
    source,
    seed: 'seed',
    now: 1_700_000_000_000,
    limits: { cpuMs: 20_000, memoryMb: 64, maxCalls: 100 },
    signal: new AbortController().signal,
    begun: () => {
      begun++;
    },
    log: (line) => logs.push(line),
    ask: async (request) => {
      requests.push(request);
      return ask(request);
    },
    ...more,
  });
  return { outcome, logs, requests, begun };
}

/** The value that a program returns. */
export async function value(
  runner: CodeRunner,
  source: string,
  more?: Partial<CodeProgram>,
  ask?: Ask,
): Promise<unknown> {
  const { outcome } = await ran(runner, source, more, ask);
  assert.ok(outcome.ok, `Expected a value of ${source}, got ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.value);
}

/** Why a program has not returned a value: the kind and the line. */
export async function fault(
  runner: CodeRunner,
  source: string,
  more?: Partial<CodeProgram>,
  ask?: Ask,
): Promise<string> {
  const { outcome } = await ran(runner, source, more, ask);
  assert.ok(!outcome.ok, `Expected a fault of ${source}, got ${JSON.stringify(outcome)}`);
  const { kind, line } = outcome.fault;
  return line === undefined ? kind : `${kind} ${line}`;
}

/** Rules by name, each for a runner. */
export type RunnerRules = Readonly<Record<string, (runner: CodeRunner) => Promise<void>>>;
