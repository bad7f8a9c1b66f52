/**
 * Calls to handlers in threads and processes, beside a bare Tinypool and bare forks that run the
 * same function: one at a time, four at once, and the first one of all.
 */

import {
  processExecutor,
  type SandboxPool,
  workerExecutor,
} from '../../src/executors/sandbox/index.ts';
import { defineTool, type Executor, HostToolRegistry } from '../../src/index.ts';
import { description, handler, type Input, input, schema } from '../fixtures.ts';
import { compare, quick } from '../harness.ts';
import type { FamilyResult, Row, TargetId } from '../targets.ts';
import { type Bare, echo, forks, tinypools } from './bare.ts';
import { onOneCore } from './one-core.ts';

const width = 4;

type Make = (pool?: SandboxPool) => Executor;
type Kind = 'thread' | 'process' | 'session';
const kinds: Readonly<Record<Kind, Make>> = {
  thread: (pool) => workerExecutor({ module: echo, pool }),
  process: (pool) => processExecutor({ module: echo, pool }),
  session: (pool) => processExecutor({ module: echo, pool, permissions: { childProcess: true } }),
};

export async function measure(): Promise<FamilyResult> {
  const tinypool = await tinypools();
  const rows = [
    ...(await kindRows('process', 'forks', forks)),
    ...(await oneCoreRows()),
    ...(await sessionRows()),
    ...(tinypool === undefined
      ? []
      : await kindRows('thread', 'threads of a bare Tinypool', tinypool)),
    await inlineRow(),
  ];
  return tinypool === undefined ? { rows, skipped: 'tinypool: not installed' } : { rows };
}

type MakeBare = (size: number) => Bare;

async function kindRows(
  kind: 'thread' | 'process',
  peer: string,
  bare: MakeBare,
): Promise<readonly Row[]> {
  const start = await starts(
    () => bare(1),
    () => governed(kinds[kind](undefined)),
  );
  return [
    { id: `sandbox_${kind}` satisfies TargetId, ...(await rates(kind, bare, 1)) },
    {
      what: `${width} calls to a ${kind} at once, against ${width} ${peer}`,
      unit: '×',
      ...(await rates(kind, bare, width)),
    },
    { id: `sandbox_${kind}_start` satisfies TargetId, ...start },
  ];
}

/**
 * On one core, the system cannot place the two processes of one side better than those of the
 * other, so this row compares the work alone.
 */
async function oneCoreRows(): Promise<readonly Row[]> {
  const measured = await onOneCore(() => rates('process', forks, 1));
  if (measured === undefined) return [];
  return [
    { what: 'one call to a process, against a fork, all on one core', unit: '×', ...measured },
  ];
}

/**
 * A process that may start others is in a session of its own, and Linux may share the processor
 * among sessions.
 */
async function sessionRows(): Promise<readonly Row[]> {
  const bare = (size: number): Bare => forks(size, true);
  return [
    {
      what: 'one call to a process that may start others, against a fork in its own session',
      unit: '×',
      ...(await rates('session', bare, 1)),
    },
    {
      what: `${width} calls to such processes at once, against ${width} such forks`,
      unit: '×',
      ...(await rates('session', bare, width)),
    },
  ];
}

/** The same tool without a sandbox. */
async function inlineRow(): Promise<Row> {
  const inline = governed(undefined);
  const [, own] = await compare([
    { name: 'bare', run: repeat(handler, 1) },
    { name: 'inline', run: repeat(inline.call, 1) },
  ]);
  await inline.close();
  return {
    what: 'the same call in this process',
    value: (own?.ns ?? Number.NaN) / 1e3,
    unit: 'µs',
  };
}

/** A tool that runs on the executor, called in full. */
function governed(executor: Executor | undefined): Bare {
  const registry = new HostToolRegistry();
  const tool = { name: 'forecast', description, parameters: schema };
  registry.register(
    executor === undefined ? defineTool({ ...tool, handler }) : defineTool({ ...tool, executor }),
  );
  const session = registry.createSession({ sessionId: 'bench' });
  return {
    call: async (given) => {
      const result = await session.call('forecast', given);
      if (!result.success) throw new Error(`A call failed: ${result.error.message}`);
      return result;
    },
    close: () => registry.close(),
  };
}

/** So many calls, `lanes` of them at once. */
function repeat(call: (input: Input) => Promise<unknown>, lanes: number) {
  return async (times: number): Promise<void> => {
    let left = times;
    const lane = async (): Promise<void> => {
      while (left-- > 0) await call(input);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
}

type Measured = Pick<Row, 'value' | 'note'>;

/**
 * The quickest rounds of several pairs. The system may put two processes on one core or on two, and
 * then wakes them at another speed for as long as they live: a median shows that more than
 * anything.
 */
async function rates(kind: Kind, bare: MakeBare, lanes: number): Promise<Measured> {
  const best = { bare: Infinity, own: Infinity };
  for (let pair = 0; pair < (quick ? 2 : 6); pair++) {
    const pool = lanes === 1 ? undefined : { max: lanes };
    const both = [bare(lanes), governed(kinds[kind](pool))] as const;
    const [theirs, ours] = await compare(
      both.map(({ call }, index) => ({ name: String(index), run: repeat(call, lanes) })),
      { rounds: 15, sampleMs: 15 },
    );
    best.bare = Math.min(best.bare, theirs?.best ?? Infinity);
    best.own = Math.min(best.own, ours?.best ?? Infinity);
    await Promise.all(both.map((one) => one.close()));
  }
  const us = (ns: number): string => (ns / 1e3).toFixed(1);
  const rate = Math.round(1e9 / best.own / 100) * 100;
  return {
    value: best.own / best.bare,
    note: `${us(best.bare)} → ${us(best.own)} µs; ${rate} calls a second`,
  };
}

/** Milliseconds until the first answer, the least of some rounds. */
async function starts(bare: () => Bare, own: () => Bare): Promise<Measured> {
  const least = { bare: Infinity, own: Infinity };
  for (let round = 0; round < (quick ? 5 : 15); round++) {
    least.bare = Math.min(least.bare, await start(bare));
    least.own = Math.min(least.own, await start(own));
  }
  return {
    value: least.own / least.bare,
    note: `${least.bare.toFixed(0)} → ${least.own.toFixed(0)} ms`,
  };
}

async function start(make: () => Bare): Promise<number> {
  const began = performance.now();
  const one = make();
  await one.call(input);
  const took = performance.now() - began;
  await one.close();
  // What was started beside the first one, or is still ending, must not disturb the next.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return took;
}
