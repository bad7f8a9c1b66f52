/**
 * Nothing stays: calls that ended and sessions that closed, or were dropped, leave the heap as it
 * was.
 */
import { HostToolRegistry } from '../src/index.ts';
import { input, rawTool, zodTool } from './fixtures.ts';
import { quick, settledHeap } from './harness.ts';
import type { FamilyResult } from './targets.ts';

export interface Load {
  readonly calls: number;
  readonly sessions: number;
  /** Samples of the settled heap over the load. */
  readonly samples: number;
}

/** Growth over what the first tenth left, in bytes, and the samples. */
export async function growth(
  { calls, sessions, samples }: Load,
  tell: (line: string) => void = () => {},
): Promise<number> {
  const registry = new HostToolRegistry();
  registry.registerAll([zodTool, rawTool]);
  const lasting = registry.createSession({ sessionId: 'lasting' });
  const lastingCall = lasting.call;
  const heap: number[] = [];
  let failed = 0;
  let opened = 0;
  for (let step = 0; step < samples; step++) {
    for (let index = 0; index < calls / samples; index++) {
      // Of eight: one is refused, one hangs for a moment on an own signal, the rest succeed.
      const kind = index & 7;
      const result = await lastingCall(
        kind === 3 ? 'forecast_raw' : 'forecast',
        kind === 0 ? { city: 1 } : input,
        kind === 1 ? { signal: new AbortController().signal } : undefined,
      );
      if (!result.success && kind !== 0) failed++;
    }
    for (let index = 0; index < sessions / samples; index++) {
      const session = registry.createSession({ sessionId: `session-${opened++}` });
      if (index % 4 === 0) session.events.on('tool:post', () => {});
      await session.call('forecast', input);
      // Every other one is closed, the rest are only dropped.
      if (index % 2 === 0 || index % 4 === 0) await session.close();
    }
    // Weak references let go only between two turns of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = settledHeap();
    heap.push(now);
    tell(
      `${String(((step + 1) * calls) / samples).padStart(9)} calls ` +
        `${String(((step + 1) * sessions) / samples).padStart(8)} sessions ` +
        `${(now / 1024).toFixed(0).padStart(8)} KB`,
    );
  }
  if (failed > 0) throw new Error(`${failed} calls failed.`);
  const warm = Math.max(1, Math.floor(samples / 5));
  const settled = heap.slice(warm);
  return Math.max(...settled.slice(-3)) - Math.min(...settled.slice(0, 3));
}

export async function measure(): Promise<FamilyResult> {
  const load = quick
    ? { calls: 50_000, sessions: 5_000, samples: 10 }
    : { calls: 200_000, sessions: 20_000, samples: 10 };
  const bytes = await growth(load);
  return {
    rows: [
      {
        id: 'leak',
        value: bytes / 1024,
        note:
          `${load.calls} calls, ${load.sessions} sessions; \`npm run bench:soak\` makes 1 000 ` +
          '000 and 100 000',
      },
    ],
  };
}

export async function soak(): Promise<FamilyResult> {
  const load = quick
    ? { calls: 100_000, sessions: 10_000, samples: 20 }
    : { calls: 1_000_000, sessions: 100_000, samples: 20 };
  const bytes = await growth(load, (line) => console.log(line));
  return {
    rows: [
      { id: 'leak', value: bytes / 1024, note: `${load.calls} calls, ${load.sessions} sessions` },
    ],
  };
}
