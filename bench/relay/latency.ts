/** Times of single things: their middle and their tail. */

/** Milliseconds below which half, and all but a hundredth, of them are. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export function spreadOf(ms: readonly number[]): Spread {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

export function spreadText(ms: readonly number[]): string {
  const { p50, p99 } = spreadOf(ms);
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
}

/** Does something so many times, so many at a time. @returns the milliseconds of each */
export async function eachOf(
  times: number,
  atOnce: number,
  one: (index: number, place: number) => Promise<unknown>,
): Promise<number[]> {
  const ms: number[] = [];
  let next = 0;
  const work = async (place: number): Promise<void> => {
    for (let index = next++; index < times; index = next++) {
      const start = performance.now();
      await one(index, place);
      ms.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, place) => work(place)));
  return ms;
}

/** So many a second. */
export async function rateOf(run: () => Promise<{ readonly length: number }>): Promise<number> {
  const start = performance.now();
  const { length } = await run();
  return (length * 1_000) / (performance.now() - start);
}
