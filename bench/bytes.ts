/** Bytes that one call allocates, by the growth of a heap that is not collected meanwhile. */
import { PerformanceObserver } from 'node:perf_hooks';
import { floor, input, rawTool, sessionOver, zodTool } from './fixtures.ts';
import { median } from './harness.ts';
import type { FamilyResult } from './targets.ts';

const times = 20_000;
const rounds = 9;

export async function measure(): Promise<FamilyResult> {
  const session = sessionOver([zodTool, rawTool]);
  const { call } = session;
  const heard = sessionOver([zodTool]);
  heard.events.on('*', () => {});
  const heardCall = heard.call;
  const cases: Record<string, () => Promise<unknown>> = {
    floor: () => floor(input),
    call: () => call('forecast', input),
    raw: () => call('forecast_raw', input),
    listener: () => heardCall('forecast', input),
  };
  const bytes: Record<string, number[]> = {};
  for (let round = 0; round < rounds + 2; round++) {
    for (const [name, one] of Object.entries(cases)) {
      const value = await allocated(one);
      // The first rounds are still being compiled.
      bytes[name] ??= [];
      if (round >= 2) bytes[name].push(value);
    }
  }
  const of = (name: string): number => median(bytes[name] ?? []);
  const base = of('floor');
  const told = (what: string, name: string) => ({
    what,
    value: of(name) / base,
    unit: '×',
    note: `${Math.round(of(name))} B`,
  });
  return {
    rows: [
      {
        id: 'call_bytes',
        value: of('call') / base,
        note: `${Math.round(base)} → ${Math.round(of('call'))} B`,
      },
      told('the same, raw JSON Schema', 'raw'),
      told('the same, 1 listener', 'listener'),
    ],
  };
}

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

async function allocated(one: () => Promise<unknown>): Promise<number> {
  for (;;) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const seen = collections;
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < times; index++) await one();
    const after = process.memoryUsage().heapUsed;
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (collections === seen) return (after - before) / times;
  }
}
