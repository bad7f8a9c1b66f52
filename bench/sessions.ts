/** Sessions and plans over tables of any size. */
import { HostToolRegistry, type ToolSession } from '../src/index.ts';
import { rawTools } from './fixtures.ts';
import { type Case, compare, retainedBytes } from './harness.ts';
import type { FamilyResult } from './targets.ts';

const sizes = [10, 1_000, 10_000] as const;

function registryOf(count: number): HostToolRegistry {
  const registry = new HostToolRegistry();
  registry.registerAll(rawTools(count));
  return registry;
}

let made = 0;
let kept: unknown;
function creating(name: string, registry: HostToolRegistry): Case {
  return {
    name,
    run: (times) => {
      for (let index = 0; index < times; index++)
        kept = registry.createSession({ sessionId: `session-${made++}` });
    },
  };
}

/** What a library does that binds every tool for every session. */
function bindEagerly(
  tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: unknown;
  }[],
  sessionId: string,
): Map<string, unknown> {
  const bound = new Map<string, unknown>();
  for (const { name, description, parameters } of tools)
    bound.set(name, {
      name,
      description,
      parameters,
      execute: async (given: unknown) => ({ sessionId, given }),
    });
  return bound;
}

export async function measure(): Promise<FamilyResult> {
  const registries = sizes.map(registryOf) as [
    HostToolRegistry,
    HostToolRegistry,
    HostToolRegistry,
  ];
  const tools = registries[1].listTools();
  const [, thousand, tenThousand, eager] = await compare([
    creating('10', registries[0]),
    creating('1000', registries[1]),
    creating('10000', registries[2]),
    {
      name: 'eager',
      run: (times) => {
        for (let index = 0; index < times; index++) kept = bindEagerly(tools, `session-${made++}`);
      },
    },
  ]);
  if (kept === undefined) throw new Error('No session was made.');
  const bytes = registries.map((registry) =>
    retainedBytes(5_000, (index) => registry.createSession({ sessionId: `session-${index}` })),
  );
  const eagerBytes = retainedBytes(50, (index) => bindEagerly(tools, `session-${index}`));
  return {
    rows: [
      {
        id: 'session_us',
        value: (thousand?.ns ?? Number.NaN) / 1e3,
        note:
          `eager binding ${((eager?.ns ?? 0) / 1e3).toFixed(0)} µs, ` +
          `${Math.round((eager?.ratio ?? 0) / (thousand?.ratio ?? 1))} ×`,
      },
      {
        id: 'session_bytes',
        value: bytes[1] as number,
        note:
          `over 10 tools ${Math.round(bytes[0] as number)} B, over 10 000 ` +
          `${Math.round(bytes[2] as number)} B; eager binding ${(eagerBytes / 1024).toFixed(0)} ` +
          'KB',
      },
      { id: 'session_scale', value: tenThousand?.ratio ?? Number.NaN },
      await planning(registries[1].createSession({ sessionId: 'plan' })),
    ],
  };
}

async function planning(session: ToolSession): Promise<FamilyResult['rows'][number]> {
  const names = session.tools().map(({ name }) => name);
  const specs = new Map(session.tools().map((tool) => [tool.name, tool]));
  const calls = names.map((name, index) => ({ id: `call-${index}`, name, arguments: {} }));
  let known = 0;
  const [lookup, plan] = await compare([
    {
      name: 'lookup',
      run: (times) => {
        for (let index = 0; index < times; index++)
          for (const { name } of calls) if (specs.get(name)?.annotations.readOnly === true) known++;
      },
    },
    {
      name: 'plan',
      run: (times) => {
        for (let index = 0; index < times; index++) known += session.plan(calls).groups.length;
      },
    },
  ]);
  return {
    id: 'plan',
    value: plan?.ratio ?? Number.NaN,
    note:
      `${((lookup?.ns ?? 0) / 1e3).toFixed(1)} → ${((plan?.ns ?? 0) / 1e3).toFixed(1)} ` +
      `µs${known > 0 ? '' : ', none known'}`,
  };
}
