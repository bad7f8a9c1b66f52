/**
 * Runs zod 4 schemas whose refinements may return promises. zod 4 first tries without promises. If
 * a refinement returns one, zod drops it and starts again: the host's code runs twice, and if the
 * dropped promise rejects, the unhandled rejection ends the process. Schemas that contain the
 * host's code are therefore run with promises allowed from the start.
 */

interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type?: unknown;
      readonly check?: unknown;
      readonly checks?: readonly unknown[];
    };
    run?(
      payload: { value: unknown; issues: unknown[] },
      context: { async: boolean },
    ): Payload | Promise<Payload>;
  };
  safeParseAsync?(value: unknown): Promise<{
    readonly success: boolean;
    readonly data?: unknown;
    readonly error?: { readonly issues: readonly unknown[] };
  }>;
}
interface Payload {
  readonly value: unknown;
  readonly issues: readonly unknown[];
}

const hostCode = new Set<unknown>(['custom', 'transform', 'lazy', 'promise', 'function']);

/**
 * True if the schema contains a refinement, a transform or a lazy part anywhere, or if that cannot
 * be determined.
 */
export function hasHostCode(schema: unknown): boolean {
  const seen = new Set<object>();
  const walk = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return false;
    seen.add(value);
    const zod = (value as Partial<ZodSchema>)._zod;
    if (zod !== undefined)
      return hostCode.has(zod.def.type) || hostCode.has(zod.def.check) || walk(zod.def);
    const prototype: unknown = Object.getPrototypeOf(value);
    return (
      (Array.isArray(value) || prototype === Object.prototype || prototype === null) &&
      Object.values(value).some(walk)
    );
  };
  try {
    return walk(schema);
  } catch {
    return true;
  }
}

/**
 * Validates with promises allowed, and returns a result in the shape of Standard Schema. `explain`
 * finds out what is wrong, at the cost of a second run.
 */
export function runWithPromises(
  schema: unknown,
  value: unknown,
  explain: (value: unknown) => unknown,
): unknown {
  const zod = schema as ZodSchema;
  if (zod._zod.run === undefined) return explain(value);
  const ran = zod._zod.run({ value, issues: [] }, { async: true });
  if (!(ran instanceof Promise))
    return ran.issues.length === 0 ? { value: ran.value } : explain(value);
  return ran.then(async (settled) => {
    if (settled.issues.length === 0) return { value: settled.value };
    if (typeof zod.safeParseAsync !== 'function') return explain(value);
    const again = await zod.safeParseAsync(value);
    return again.success
      ? { value: again.data }
      : { issues: again.error?.issues ?? [{ message: 'invalid' }] };
  });
}
