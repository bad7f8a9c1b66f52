/** The table of calls of all surfaces, made by programs: each ends as the same call made directly. */
import { describe, expect, test } from 'vitest';
import type { AnyEvent, ToolSession } from '../../../src/index.ts';
import { surfaceRows } from '../../../src/surfaces/testing/conformance/surface-conformance-rows.ts';
import { conformanceWorld } from '../../../src/surfaces/testing/conformance/surface-conformance-world.ts';

/** What a call has told, without what tells a direct call from one of a program. */
function told(session: ToolSession, tool: string): unknown[] {
  const seen: unknown[] = [];
  session.events.on('*', (event: AnyEvent) => {
    const { type, toolName, error, status, output } = event as unknown as Record<string, unknown>;
    const { code, reason } = (error ?? {}) as Record<string, unknown>;
    if (toolName === tool) seen.push({ type, code, reason, status, output });
  });
  return seen;
}

const inProgram = (tool: string, input: unknown): string =>
  `const input = JSON.parse(${JSON.stringify(JSON.stringify(input))});\n` +
  `try { return { output: await tools[${JSON.stringify(tool)}](input) } }\n` +
  'catch ({ code, reason, retryable, message }) { return { code, reason, retryable, message } }';

const rows = surfaceRows.filter(({ needs = [] }) => !needs.includes('noArguments'));
/** What a program must not learn of tools that it cannot call. */
const unlisted = rows.filter(({ needs = [] }) => needs.includes('unlisted'));

describe('a call by a program ends as a direct one', () => {
  test.each(rows.filter((row) => !unlisted.includes(row)).map((row) => [row.title, row] as const))(
    '%s',
    async (_, { tool, input = {} }) => {
      const direct = conformanceWorld().session;
      const expected = told(direct, tool);
      const { success, output, error } = await direct.call(tool, input);
      const session = conformanceWorld(true).session;
      const seen = told(session, tool);
      const { output: got } = await session.call('run_code', { code: inProgram(tool, input) });
      expect(seen).toEqual(expected);
      if (success && tool === 'big') expect((got as { output: string }).output).toHaveLength(5_000);
      // JSON is all that a program gets.
      else if (success) expect(got).toEqual(JSON.parse(JSON.stringify({ output: output ?? null })));
      else {
        const { code, reason, retryable, message } = error;
        expect(got).toEqual(JSON.parse(JSON.stringify({ code, reason, retryable, message })));
      }
    },
  );
});

describe('a tool that a program cannot call is like none', () => {
  test.each(unlisted.map((row) => [row.title, row] as const))('%s', async (_, { tool, input }) => {
    const direct = conformanceWorld().session;
    expect((await direct.call(tool, input ?? {})).success).toBe(false);
    const { session } = conformanceWorld(true);
    const { output } = await session.call('run_code', { code: inProgram(tool, input ?? {}) });
    expect(output).toEqual({
      code: 'tool_not_found',
      retryable: false,
      message: `There is no tool \`${tool}\`.`,
    });
  });
});
