/** What the compiler says about a mistake in a config: the line that names the field. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compiled } from './in-memory.ts';

const file = fileURLToPath(new URL('messages-in-memory.ts', import.meta.url));
const head = `
import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
const base = { name: 'x', description: 'words' } as const;
const parameters = z.object({ a: z.string() });
const handler = () => 1;
`;

/** Each config with the end of its message. */
const mistakes: readonly (readonly [config: string, message: RegExp])[] = [
  ['parameters', /^Property 'handler' is missing in type .* but required in type '\{ handler: /],
  ['inputSchema: parameters', /^Property 'handler' is missing in type /],
  ['handler', /^Property 'parameters' is missing in type .* required in type '\{ parameters: /],
  ['execute: handler', /^Property 'parameters' is missing in type /],
  [
    'parameters, handler, timeout: 5',
    /'timeout' does not exist .*Did you mean to write 'timeoutMs'/,
  ],
  ['parameters, handler, timeoutMs: "5s"', /^Type 'string' is not assignable to type 'number'/],
  ['parameters, handler: 5', /^Type 'number' is not assignable to type '\(input: \{ a: string; \}/],
  ['parameters, handler: ({ b }) => b', /^Property 'b' does not exist on type '\{ a: string; \}'/],
  ['parameters, execute: ({ b }) => b', /^Property 'b' does not exist on type '\{ a: string; \}'/],
  ['parameters: 5, handler', /^Type 'number' is not assignable to type 'Schema/],
  ['inputSchema: 5, handler', /^Type 'number' is not assignable to type 'Schema/],
  [
    'parameters, handler, needsApproval: () => 1',
    /^Type 'number' is not assignable to type .*boolean/,
  ],
  ['parameters, handler, annotations: { readonly: true }', /Did you mean to write 'readOnly'/],
];

test('a message ends with the field that is wrong, as this library calls it', () => {
  const text = head + mistakes.map(([config]) => `defineTool({ ...base, ${config} });`).join('\n');
  const said = compiled(file, text).mistakes.map((message) => message.split('\n'));
  expect(said.map((lines) => lines.at(-1)?.trim())).toEqual(
    mistakes.map(([, message]) => expect.stringMatching(message)),
  );
});
