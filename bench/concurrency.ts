/** Sixteen at once: the session's own limit against a pool written by hand. */
import { defineTool, HostToolRegistry } from '../src/index.ts';
import { description, floor, input, schema } from './fixtures.ts';
import { type Case, compare } from './harness.ts';
import type { FamilyResult } from './targets.ts';

const width = 16;
const calls = 320;

function wait(): Promise<{ done: true }> {
  return new Promise((resolve) => setTimeout(resolve, 1, { done: true }));
}

async function pool(): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next++ < calls) {
      schema.parse(input);
      await wait();
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}

export async function measure(): Promise<FamilyResult> {
  const registry = new HostToolRegistry();
  registry.register(defineTool({ name: 'wait', description, parameters: schema, handler: wait }));
  const session = registry.createSession({
    sessionId: 'bench',
    limits: { maxConcurrentCalls: width },
  });
  const governed = async (): Promise<void> => {
    const results = await Promise.all(
      Array.from({ length: calls }, () => session.call('wait', input)),
    );
    if (results.some(({ success }) => !success)) throw new Error('A call failed.');
  };
  await floor(input);
  const cases: Case[] = [pool, governed].map((work) => ({
    name: work.name,
    run: async (times) => {
      for (let index = 0; index < times; index++) await work();
    },
  }));
  const [ours, theirs] = await compare(cases, { rounds: 9, sampleMs: 60 }).then(([base, own]) => [
    own,
    base,
  ]);
  return {
    rows: [
      {
        id: 'concurrency',
        value: ours?.ratio ?? Number.NaN,
        note:
          `${calls} calls: ${((theirs?.ns ?? 0) / 1e6).toFixed(1)} → ` +
          `${((ours?.ns ?? 0) / 1e6).toFixed(1)} ms`,
      },
    ],
  };
}
