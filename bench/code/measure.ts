/**
 * Programs and their calls beside the bare package `run`: an empty program, and one call more in a
 * program, to a handler that returns at once.
 */
import nodeModule from 'node:module';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../src/index.ts';
import { median, quick } from '../harness.ts';
import type { FamilyResult } from '../targets.ts';

/** The package's own limit is 256. */
const calls = 250;
const rounds = quick ? 5 : 15;
const empties = 5;

/** Runs a program that makes so many calls. */
type Run = (calls: number) => Promise<void>;

const sourceOf = (count: number): string =>
  `for (let at = 0; at < ${count}; at++) await tools.echo({ at }); return null;`;

export async function measure(): Promise<FamilyResult> {
  const ours = session();
  const bare = await runAlone();
  for (const run of [ours, bare]) for (const count of [0, calls, 0]) await run(count);
  const rows: { empty: number; call: number; ours: number[]; bare: number[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [ours, bare] : [bare, ours];
    const times = new Map<Run, number[]>();
    for (const run of order) times.set(run, await timesOf(run));
    const [emptyOurs = 0, callOurs = 0] = times.get(ours) ?? [];
    const [emptyBare = 1, callBare = 1] = times.get(bare) ?? [];
    rows.push({
      empty: emptyOurs / emptyBare,
      call: callOurs / callBare,
      ours: [emptyOurs, callOurs],
      bare: [emptyBare, callBare],
    });
  }
  const figures = (at: number): string =>
    `${['bare', 'ours'].map((name) => median(rows.map((row) => row[name as 'bare'][at] as number)).toFixed(2)).join(' → ')} ms`;
  return {
    rows: [
      { id: 'code_empty', value: median(rows.map(({ empty }) => empty)), note: figures(0) },
      { id: 'code_call', value: median(rows.map(({ call }) => call)), note: figures(1) },
    ],
  };
}

/** Milliseconds of an empty program, and of one call more. */
async function timesOf(run: Run): Promise<number[]> {
  const start = performance.now();
  for (let at = 0; at < empties; at++) await run(0);
  const empty = (performance.now() - start) / empties;
  const from = performance.now();
  await run(calls);
  return [empty, (performance.now() - from - empty) / calls];
}

function session(): Run {
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 'echo',
      description: 'Returns its input.',
      parameters: z.object({ at: z.number() }),
      handler: (input) => input,
    }),
  );
  const made = registry.createSession({ sessionId: 'bench', code: { maxCalls: calls } });
  return async (count) => {
    const { error } = await made.call('run_code', { code: sourceOf(count) });
    if (error !== undefined) throw new Error(error.message);
  };
}

/** The package by itself, at its best: without a compiler, which takes longer than all else. */
async function runAlone(): Promise<Run> {
  const loader = nodeModule as unknown as Record<string, unknown> & {
    _load(request: string, ...rest: unknown[]): unknown;
  };
  const load = loader._load;
  loader._load = (request, ...rest) => {
    if (request === 'typescript') throw new Error('No compiler is loaded here.');
    return load(request, ...rest);
  };
  const { run } = await import('run');
  return async (count) => {
    const { status } = await run({
      source: sourceOf(count),
      hostFunctions: { tools: { echo: async (input: unknown) => input } },
    });
    if (status !== 'completed') throw new Error(`run: ${status}`);
  };
}
