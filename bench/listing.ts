/**
 * What a model sees at each step: the effective list of a thousand tools, against converting each
 * schema again.
 */
import { z } from 'zod';
import { defineTool, HostToolRegistry, type ToolSession } from '../src/index.ts';
import { description, zodParameters } from './fixtures.ts';
import { type Case, compare } from './harness.ts';
import type { FamilyResult } from './targets.ts';

export const listed = 1_000;

/** A session over a thousand zod tools, and the schemas. */
export function listingSetup(): {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  readonly schemas: readonly z.ZodType[];
} {
  const schemas = Array.from({ length: listed }, (_, index) => zodParameters(index));
  const registry = new HostToolRegistry();
  registry.registerAll(
    schemas.map((parameters, index) =>
      defineTool({
        name: `tool_${index}`,
        description,
        parameters: parameters as never,
        handler: () => null,
      }),
    ),
  );
  return { registry, session: registry.createSession({ sessionId: 'bench' }), schemas };
}

/** The list that a session shows, bound and ready for a model. */
export function ourList(session: ToolSession): Case {
  let seen = 0;
  return {
    name: 'list',
    run: (times) => {
      for (let index = 0; index < times; index++)
        seen = Math.max(seen, session.effectiveTools().tools.length);
    },
  };
}

export async function measure(): Promise<FamilyResult> {
  const { registry, session, schemas } = listingSetup();
  if (session.effectiveTools().tools.length !== listed)
    throw new Error('Not every tool is effective.');
  const [, converting] = await compare(
    [
      ourList(session),
      {
        name: 'converting',
        run: (times) => repeat(times, () => schemas.map((schema) => z.toJSONSchema(schema))),
      },
    ],
    { rounds: 5 },
  );
  let number = 0;
  const [, first, copied] = await compare(
    [
      ourList(session),
      {
        name: 'first',
        run: (times) =>
          repeat(
            times,
            () =>
              registry.createSession({ sessionId: `s${number++}` }).effectiveTools().names.length,
          ),
      },
      {
        name: 'schemas',
        run: (times) =>
          repeat(times, () =>
            session.tools().map(({ name, description: text, inputSchema }) => ({
              name,
              description: text,
              inputSchema,
            })),
          ),
      },
    ],
    { rounds: 7 },
  );
  return {
    rows: [
      {
        id: 'list_zod',
        value: converting?.ratio ?? Number.NaN,
        note:
          `${((converting?.ns ?? 0) / (converting?.ratio ?? 1) / 1e3).toFixed(2)} µs against ` +
          `${((converting?.ns ?? 0) / 1e6).toFixed(1)} ms`,
      },
      {
        what: 'names for a new session, first time',
        value: (first?.ns ?? Number.NaN) / 1e3,
        unit: 'µs',
      },
      {
        what: 'a plain copy of 1 000 names, descriptions and schemas',
        value: (copied?.ns ?? Number.NaN) / 1e3,
        unit: 'µs',
      },
    ],
  };
}

function repeat(times: number, work: () => unknown): void {
  for (let index = 0; index < times; index++) work();
}
