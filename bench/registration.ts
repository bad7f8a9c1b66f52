/** Registering a thousand tools: from plain configurations to tools that can be called. */
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../src/index.ts';
import { description, rawParameters, zodParameters } from './fixtures.ts';
import { median, quick, retainedBytes, settledHeap } from './harness.ts';
import type { FamilyResult } from './targets.ts';

const count = 1_000;
const handler = (): null => null;

export async function measure(): Promise<FamilyResult> {
  const rounds = quick ? 5 : 11;
  const raw: number[] = [];
  const registering: number[] = [];
  const map: number[] = [];
  const zod: number[] = [];
  for (let round = 0; round < rounds + 2; round++) {
    const configs = Array.from({ length: count }, (_, index) => ({
      name: `tool_${index}`,
      description,
      parameters: rawParameters(index),
      handler,
    }));
    const plain = timed(() => new Map(configs.map((config) => [config.name, { ...config }])));
    let defined: ReturnType<typeof defineTool>[] = [];
    const defining = timed(() => {
      defined = configs.map((config) => defineTool(config as never));
    });
    const registered = timed(() => new HostToolRegistry().registerAll(defined));
    // Both convert schemas that nobody has seen yet; in turn, so that neither always goes first.
    const schemas = Array.from({ length: count }, (_, index) => zodParameters(index));
    const others = Array.from({ length: count }, (_, index) => zodParameters(index));
    const ours = (): number =>
      timed(() =>
        new HostToolRegistry().registerAll(
          schemas.map((parameters, index) =>
            defineTool({
              name: `tool_${index}`,
              description,
              parameters: parameters as never,
              handler,
            }),
          ),
        ),
      );
    const theirs = (): number =>
      timed(() =>
        others.map((schema) => z.toJSONSchema(schema, { io: 'input', target: 'draft-07' })),
      );
    const [own, other] =
      round % 2 === 0 ? [ours(), theirs()] : ([theirs(), ours()].reverse() as [number, number]);
    if (round < 2) continue;
    raw.push(defining + registered);
    registering.push(registered);
    map.push(plain);
    zod.push(own / other);
  }
  const bytes = memoryATool();
  return {
    rows: [
      {
        id: 'register_raw_ms',
        value: median(raw),
        note:
          `defineTool included; registerAll alone ${median(registering).toFixed(2)} ms; a Map ` +
          `${median(map).toFixed(2)} ms`,
      },
      {
        id: 'register_raw_bytes',
        value: bytes.registered,
        note: `definition and entry; the definition alone ${Math.round(bytes.defined)} B`,
      },
      { id: 'register_zod', value: median(zod) },
    ],
  };
}

/** What the library keeps beside the host's own configuration. */
function memoryATool(): { defined: number; registered: number } {
  const configs = Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description,
    parameters: rawParameters(index),
    handler,
  }));
  const defined = retainedBytes(count, (index) => defineTool(configs[index] as never));
  const before = settledHeap();
  const registry = new HostToolRegistry();
  for (const config of configs) registry.register(defineTool(config as never));
  const after = settledHeap();
  return {
    defined,
    registered: registry.count === configs.length ? (after - before) / count : Number.NaN,
  };
}

/** Milliseconds. */
function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
