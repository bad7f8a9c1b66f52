/** The tools that are measured, the same for everybody. */
import { z } from 'zod';
import { type AnyTool, defineTool, HostToolRegistry, type ToolSession } from '../src/index.ts';

/** One small object. */
export const schema = z.object({ city: z.string(), days: z.number() });
export type Input = z.infer<typeof schema>;
export const input: Input = { city: 'Oslo', days: 3 };
export const rawSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city', 'days'],
  additionalProperties: false,
} as const;

/** What a host's function does here: as little as an asynchronous one can. */
export async function handler({ city, days }: Input): Promise<{ city: string; degrees: number }> {
  return { city, degrees: days + 18 };
}

export const description = 'Forecasts the weather of a city for some days.';

/** The floor of a validated call. */
export async function floor(given: Input): Promise<unknown> {
  const parsed = schema.parse(given);
  return await handler(parsed);
}

export const zodTool = defineTool({ name: 'forecast', description, parameters: schema, handler });
export const rawTool = defineTool({
  name: 'forecast_raw',
  description,
  parameters: rawSchema,
  handler: (given) => handler(given as Input),
});

/** What hosts really register: a check that looks at the input, a timeout and an output budget. */
export const normalTool = defineTool({
  name: 'forecast',
  description,
  parameters: schema,
  timeoutMs: 30_000,
  maxOutputChars: 20_000,
  policy: {
    check: ({ input: given, allow, deny }) => (given.days === 7 ? deny('too_many_days') : allow()),
  },
  handler,
});

/** A session over these tools alone. */
export function sessionOver(tools: readonly AnyTool<unknown>[]): ToolSession {
  const registry = new HostToolRegistry();
  registry.registerAll(tools);
  return registry.createSession({ sessionId: 'bench' });
}

/** A zod schema like a real tool's, another object at each call. */
export function zodParameters(index: number): z.ZodType {
  return z.object({
    path: z.string().describe(`The file or folder to look at (${index}).`),
    pattern: z.string().optional().describe('What to look for.'),
    limit: z.number().int().min(1).max(1_000).default(100).describe('Most lines to give back.'),
    mode: z.enum(['text', 'json', 'count']).describe('How to show what was found.'),
  });
}

export function rawParameters(index: number): Record<string, unknown> {
  return {
    type: 'object',
    properties: {
      path: { type: 'string', description: `The file or folder to look at (${index}).` },
      limit: { type: 'integer', minimum: 1, maximum: 1_000 },
    },
    required: ['path'],
    additionalProperties: false,
  };
}

/** So many plain tools with raw schemas. */
export function rawTools(count: number, prefix = 'tool'): AnyTool<unknown>[] {
  return Array.from({ length: count }, (_, index) =>
    defineTool({
      name: `${prefix}_${index}`,
      description,
      parameters: rawParameters(index) as never,
      annotations: { readOnly: true },
      handler: () => null,
    }),
  );
}
