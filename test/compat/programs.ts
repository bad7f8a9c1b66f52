/** Programs that use the installed package, as text. */

/**
 * The first program of a TypeScript host. It must compile with the usual options; the lines that
 * are marked must not compile.
 */
export const consumer = `
import { defineTool, HostToolRegistry, MisuseError, type ToolResult } from 'host-tools';
import { TestCoordinator } from 'host-tools/testing';
import { createModule } from 'host-tools/amplifier';
import { z } from 'zod';

const greet = defineTool({
  name: 'greet',
  description: 'Greets a person.',
  parameters: z.object({ name: z.string(), times: z.number().default(1) }),
  handler: ({ name, times }) => ({ text: \`Hello \${name}!\`.repeat(times) }),
});

const registry = new HostToolRegistry();
registry.register(greet);
const session = registry.createSession({ sessionId: 'session-1' });
const result: ToolResult<{ text: string }> = await session.call(greet, { name: 'Ada' });
if (result.success) {
  const text: string = result.output.text;
  console.log(text);
} else {
  const code: 'timeout' | string = result.error.code;
  console.log(code);
}
// @ts-expect-error A name is a string.
await session.call(greet, { name: 1 });
// @ts-expect-error The output has no such field.
if (result.success) console.log(result.output.txt);
// @ts-expect-error A definition does not show its handler.
console.log(greet.handler);
console.log(new MisuseError('closed', 'x').code, new TestCoordinator(), createModule);
await session.close();
`;

/**
 * An application, to be bundled and run: a pattern in a schema, one in a rule, and a schema of
 * zod 3, whose converter is loaded when it is needed. Prints JSON.
 */
export const application = `
import { defineTool, HostToolRegistry } from 'host-tools';
import { z } from 'zod/v3';
const registry = new HostToolRegistry({
  rules: [{ id: 'no-x', effect: 'deny', when: { p: { matches: '^x' } } }],
});
const schema = { type: 'object', properties: { p: { type: 'string', pattern: '^[a-z]+$' } } };
registry.register(
  defineTool({ name: 'raw', description: 'Echoes.', parameters: schema, handler: ({ p }) => p }),
);
const session = registry.createSession({ sessionId: 's' });
const told = [];
for (const p of ['abc', 'xyz', '1']) {
  const { success, output, error } = await session.call('raw', { p });
  told.push(success ? output : error.code);
}
try {
  registry.register(
    defineTool({
      name: 'three',
      description: 'Counts.',
      parameters: z.object({ n: z.number() }),
      handler: ({ n }) => n + 1,
    }),
  );
  told.push((await session.call('three', { n: 1 })).output);
} catch (error) {
  told.push(error.code, error.message);
}
console.log(JSON.stringify(told));
`;

/** What {@link application} prints where everything that it needs is found. */
export const applicationPrints = ['abc', 'policy_denied', 'invalid_input', 2];

/** The same for CommonJS: every subpath by `require`, and a call. Prints JSON. */
export const commonApplication = `
const specifiers = process.argv.slice(2);
const counts = specifiers.map((specifier) => Object.keys(require(specifier)).length);
const { defineTool, HostToolRegistry } = require('host-tools');
const registry = new HostToolRegistry();
registry.register(
  defineTool({
    name: 'add',
    description: 'Adds.',
    parameters: { type: 'object' },
    handler: ({ a, b }) => a + b,
  }),
);
const session = registry.createSession({ sessionId: 's' });
session.call('add', { a: 1, b: 2 }).then(({ output }) => {
  console.log(JSON.stringify({ least: Math.min(...counts), output }));
});
`;

/** Imports every subpath, so that a bundler has to resolve all of them. Prints JSON. */
export function everySubpath(specifiers: readonly string[]): string {
  const imports = specifiers.map((name, at) => `import * as module${at} from '${name}';`);
  const counts = specifiers.map((_, at) => `Object.keys(module${at}).length`);
  const least = `Math.min(${counts.join(', ')})`;
  return `${imports.join('\n')}\nconsole.log(JSON.stringify(${least} > 0));\n`;
}

/** Calls a tool in a sandbox of each kind, and prints why it could not. */
export const sandboxes = `
import { defineTool, HostToolRegistry } from 'host-tools';
import { processExecutor, workerExecutor } from 'host-tools/sandbox';
const module = new URL('./sandboxes.mjs', import.meta.url);
const told = [];
for (const make of [workerExecutor, processExecutor]) {
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 'run',
      description: 'Runs.',
      parameters: { type: 'object' },
      executor: make({ module }),
    }),
  );
  const { error } = await registry.createSession({ sessionId: 's' }).call('run', {});
  told.push([error?.reason, /this is [^.]+\\.\\d+\\.\\d+/.exec(error?.message)?.[0]]);
  await registry.close();
}
console.log(JSON.stringify(told));
`;
