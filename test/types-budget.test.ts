/**
 * What the types of a tool cost the compiler, so that a host with many tools keeps a quick editor.
 */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** Type instantiations a tool, beyond those of its schemas. */
const budget = 1_300;
const tools = 50;

const folder = fileURLToPath(new URL('.', import.meta.url));
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

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
function instantiations(
  text: string,
  host: ts.CompilerHost,
  before?: ts.Program,
): { count: number; program: ts.Program } {
  const file = `${folder}budget-in-memory.ts`;
  const program = ts.createProgram([file], options, {
    ...host,
    fileExists: (name) => name === file || host.fileExists(name),
    readFile: (name) => (name === file ? text : host.readFile(name)),
    getSourceFile: (name, ...rest) =>
      name === file
        ? ts.createSourceFile(name, text, options.target!, true)
        : (before?.getSourceFile(name) ?? host.getSourceFile(name, ...rest)),
  });
  const source = program.getSourceFile(file)!;
  const mistakes = [...program.getOptionsDiagnostics(), ...program.getSemanticDiagnostics(source)];
  expect(
    mistakes.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  ).toEqual([]);
  return { count: program.getInstantiationCount(), program };
}

test(`a tool costs at most ${budget} type instantiations beyond its schemas`, () => {
  const host = ts.createCompilerHost(options);
  const indexes = Array.from({ length: tools }, (_, index) => index);
  const alone = instantiations(head + indexes.map(schemas).join(''), host);
  const all = instantiations(
    head + indexes.map(schemas).join('') + indexes.map(tool).join(''),
    host,
    alone.program,
  );
  const each = (all.count - alone.count) / tools;
  expect(each).toBeGreaterThan(100);
  expect(each).toBeLessThanOrEqual(budget);
});
