/**
 * Runs zod 4 schemas whose refinements may return promises. zod 4 first tries without promises. If
 * a refinement returns one, zod drops it and starts again: the host's code runs twice, and if the
 * dropped promise rejects, the unhandled rejection ends the process. Schemas that contain the
 * host's code are therefore run with promises allowed from the start, and once: what is wrong is
 * put into words by a copy of the schema that repeats the issues.
 */

interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type?: unknown;
      readonly check?: unknown;
      readonly checks?: readonly unknown[];
    };
    readonly constr?: new (def: object) => ZodSchema;
    run?(
      payload: { value: unknown; issues: unknown[] },
      context: { async: boolean },
    ): Payload | Promise<Payload>;
  };
  readonly '~standard': { validate(value: unknown): unknown };
}
interface Payload {
  readonly value: unknown;
  readonly issues: readonly unknown[];
}

const hostCode = new Set<unknown>(['custom', 'transform', 'lazy', 'promise', 'function']);

/** What zod itself may put into a definition: when a check is skipped, and what an issue says. */
const ofZod = new Set(['when', 'error']);

/**
 * True if the schema contains a refinement, a transform or a lazy part anywhere, or if that cannot
 * be determined.
 * @param any Whether functions count that cannot return a promise, too, such as that of a default.
 */
export function hasHostCode(schema: unknown, any = false): boolean {
  const seen = new Set<object>();
  const walk = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return false;
    seen.add(value);
    const zod = (value as Partial<ZodSchema>)._zod;
    if (zod !== undefined)
      return (
        hostCode.has(zod.def.type) ||
        hostCode.has(zod.def.check) ||
        (any && mayCall(zod.def)) ||
        walk(zod.def)
      );
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

const defaults = new Set<unknown>(['default', 'prefault', 'catch']);

/** Reading a default may call the function that makes it. */
function mayCall(def: ZodSchema['_zod']['def']): boolean {
  return (
    defaults.has(def.type) ||
    Object.entries(def).some(([name, value]) => typeof value === 'function' && !ofZod.has(name))
  );
}

/**
 * Validates with promises allowed, and returns a result in the shape of Standard Schema.
 * @param explain Validates as zod does, for a schema that cannot be run otherwise.
 */
export function runWithPromises(
  schema: unknown,
  value: unknown,
  explain: (value: unknown) => unknown,
): unknown {
  const { _zod: zod } = schema as ZodSchema;
  if (zod.run === undefined) return explain(value);
  const read = (ran: Payload): unknown =>
    ran.issues.length === 0 ? { value: ran.value } : inWords(schema as ZodSchema, value, ran);
  const ran = zod.run({ value, issues: [] }, { async: true });
  return ran instanceof Promise ? ran.then(read) : read(ran);
}

/** Repeats the issues of a run, and puts them into words. */
type Words = (value: unknown, ran: Payload) => unknown;

const words = new WeakMap<ZodSchema, Words>();

/** The issues with their messages. They come from the schema, its error maps and its locale. */
function inWords(schema: ZodSchema, value: unknown, ran: Payload): unknown {
  let repeat = words.get(schema);
  if (repeat === undefined) {
    repeat = wordsOf(schema);
    words.set(schema, repeat);
  }
  return repeat(value, ran);
}

function wordsOf(schema: ZodSchema): Words {
  let next: Payload | undefined;
  const copy = copyOf(schema);
  if (copy === undefined) return (_, { issues }) => ({ issues: issues.map(asIssue) });
  // Zod asks for the payload first, so an error map that validates something is not in its way.
  copy._zod.run = () => next as Payload;
  return (value, ran) => {
    next = ran;
    return copy['~standard'].validate(value);
  };
}

function copyOf({ _zod: { constr: Schema, def } }: ZodSchema): ZodSchema | undefined {
  try {
    const copy = Schema === undefined ? undefined : new Schema(def);
    return typeof copy?.['~standard'].validate === 'function' ? copy : undefined;
  } catch {
    return undefined;
  }
}

/** An issue whose schema cannot say what is wrong. */
function asIssue(issue: unknown): object {
  const { message, path } = issue as { readonly message?: unknown; readonly path?: unknown };
  return { message: message ?? 'Invalid input', path };
}
