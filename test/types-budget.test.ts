/**
 * What the types of a tool cost the compiler, so that a host with many tools keeps a quick editor.
 */
import { fileURLToPath } from 'node:url';
import type ts from 'typescript';
import { expect, test } from 'vitest';
import { compiled } from './types/in-memory.ts';

/** Type instantiations a tool, beyond those of its schemas. */
const budget = 1_300;
const tools = 50;

const file = fileURLToPath(new URL('budget-in-memory.ts', import.meta.url));

/** Schemas, and their own types once read: working those out is the schema library's part. */
const schemas = (index: number): string => `
const parameters${index} = z.object({ path: z.string(), lines: z.number().int().default(${index}), mode: z.enum(['a${index}', 'b']).optional(), tags: z.array(z.string()) });
const output${index} = z.object({ text${index}: z.string(), size: z.number() });
const knobs${index} = z.object({ max${index}: z.number().default(1) });
type Types${index} = [z.input<typeof parameters${index}>, z.output<typeof parameters${index}>, z.input<typeof output${index}>, z.output<typeof output${index}>, z.output<typeof knobs${index}>];
const types${index} = {} as Types${index};
types${index}[0].path + types${index}[1].path + types${index}[2].size + types${index}[3].size + types${index}[4].max${index};
`;
/** A definition with everything that is inferred, registered and called. */
const tool = (index: number): string => `
const tool${index} = defineTool({
  name: 'tool-${index}', description: 'words', parameters: parameters${index}, outputSchema: output${index},
  policy: { knobs: knobs${index}, check: ({ input, knobs, allow, ask }) => (input.lines > knobs.max${index} ? ask() : allow()) },
  handler: async (input, { knobs, signal }) => (signal.aborted ? fail('stopped') : { text${index}: input.path, size: knobs.max${index} }),
});
registry.register(tool${index});
const result${index} = await session.call(tool${index}, { path: 'a', tags: [] });
if (result${index}.success) result${index}.output.size.toFixed();
`;
const head = `
import { z } from 'zod';
import { defineTool, fail, HostToolRegistry } from '../src/index.ts';
const registry = new HostToolRegistry();
const session = registry.createSession({ sessionId: 's' });
`;

/** Instantiations while one file that exists in memory only is checked; it must have no mistake. */
function instantiations(text: string, before?: ts.Program): { count: number; program: ts.Program } {
  const { program, mistakes } = compiled(file, text, before);
  expect(mistakes).toEqual([]);
  return { count: program.getInstantiationCount(), program };
}

test(`a tool costs at most ${budget} type instantiations beyond its schemas`, () => {
  const indexes = Array.from({ length: tools }, (_, index) => index);
  const alone = instantiations(head + indexes.map(schemas).join(''));
  const all = instantiations(
    head + indexes.map(schemas).join('') + indexes.map(tool).join(''),
    alone.program,
  );
  const each = (all.count - alone.count) / tools;
  expect(each).toBeGreaterThan(100);
  expect(each).toBeLessThanOrEqual(budget);
});
