/**
 * Interleaved rounds inside one process: only the ratio of two things measured side by side
 * survives a noisy machine.
 */

/** Something to measure. */
export interface Case {
  readonly name: string;
  /** Does the thing `times` times, one after another. */
  readonly run: (times: number) => void | Promise<void>;
}

/** What came out for one case. */
export interface Timing {
  readonly name: string;
  /** Median over the rounds of this case's time divided by the first case's of the same round. */
  readonly ratio: number;
  /** Median nanoseconds of one time. Drifts with the machine; for orientation. */
  readonly ns: number;
  /**
   * Nanoseconds of one time in the quickest round. For differences of cases: what disturbs a round
   * only adds to it, and a difference of medians is mostly that.
   */
  readonly best: number;
}

/** A shortened run: less exact, under a minute for everything. */
export const quick = process.env.BENCH_QUICK === '1';

export interface CompareOptions {
  /** @default 21, or 9 in a quick run */
  readonly rounds?: number;
  /** About how long one sample takes. @default 12, or 6 in a quick run */
  readonly sampleMs?: number;
}

/** Measures cases against the first of them. */
export async function compare(
  cases: readonly Case[],
  { rounds = quick ? 9 : 21, sampleMs = quick ? 6 : 12 }: CompareOptions = {},
): Promise<readonly Timing[]> {
  const times: number[] = [];
  for (const one of cases) times.push(await calibrate(one, sampleMs));
  const samples: number[][] = cases.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let place = 0; place < cases.length; place++) {
      // Another order each round, so that nobody always follows the same neighbour.
      const index = (place + round) % cases.length;
      samples[index]?.push(await sample(cases[index] as Case, times[index] as number));
    }
  }
  const base = samples[0] as number[];
  return cases.map(({ name }, index) => {
    const own = samples[index] as number[];
    return {
      name,
      ratio: median(own.map((ns, round) => ns / (base[round] as number))),
      ns: median(own),
      best: Math.min(...own),
    };
  });
}

/**
 * How long each case runs before it is measured, so that what the compiler still has to learn is
 * not measured.
 */
const warmUpMs = quick ? 150 : 500;

/** Warms up, and finds how many times make a sample of this length. */
async function calibrate(one: Case, sampleMs: number): Promise<number> {
  let times = 1;
  let ns = await sample(one, times);
  for (let spent = 0; spent < warmUpMs; ) {
    ns = await sample(one, times);
    const ms = (ns * times) / 1e6;
    spent += ms;
    if (ms < sampleMs / 2) times *= 2;
  }
  return Math.max(1, Math.round((sampleMs * 1e6) / ns));
}

async function sample({ run }: Case, times: number): Promise<number> {
  const start = process.hrtime.bigint();
  await run(times);
  return Number(process.hrtime.bigint() - start) / times;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Live heap after everything that can go has gone. */
export function settledHeap(): number {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('Run node with --expose-gc.');
  for (let again = 0; again < 4; again++) collect();
  return process.memoryUsage().heapUsed;
}

/** Bytes that one time leaves in use: what `make` answers is held while it is weighed. */
export function retainedBytes(times: number, make: (index: number) => unknown): number {
  const held: unknown[] = new Array(times).fill(undefined);
  const before = settledHeap();
  for (let index = 0; index < times; index++) held[index] = make(index);
  const after = settledHeap();
  return held.length === times ? (after - before) / times : Number.NaN;
}
