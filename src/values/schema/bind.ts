/** Makes a schema of any kind ready: its JSON Schema for the model, and one way to validate. */

import { describe, MisuseError } from '../errors/index.ts';
import type { JsonObject, JsonValue } from '../json/index.ts';
import { isThenable } from '../maybe-promise.ts';
import { type Issue, withoutEcho } from './issues.ts';
import {
  type Direction,
  plainTypeOf,
  type SchemaKind,
  schemaKind,
  toJsonSchema,
} from './to-json-schema.ts';
import { hasHostCode, runWithPromises } from './zod-promises.ts';

/**
 * The outcome of a validation. It has the shape of Standard Schema's result, so that the common
 * path passes that result on unchanged.
 */
export type Validated = { readonly value: unknown; readonly issues?: undefined } | Refused;

export interface Refused {
  readonly issues: readonly Issue[];
  readonly value?: undefined;
  /**
   * What the schema's own code threw, if that is the reason. Then the mistake is the host's and not
   * the sender's.
   */
  readonly fault: { readonly thrown: unknown } | undefined;
}

/** The result of Standard Schema, as vendors return it. */
interface StandardResult {
  readonly value?: unknown;
  readonly issues?:
    | readonly { readonly message?: unknown; readonly path?: readonly unknown[] | undefined }[]
    | undefined;
}

/** Runs plain JSON Schemas. Those of vendors run by their own code. */
export interface SchemaEngine {
  /** Makes a schema ready, which is compiled at its first use. */
  bind(schema: JsonObject, options: BindOptions): RawValidator;
}

/** The methods of {@link BoundSchema} for a plain schema. */
export interface RawValidator {
  check(): readonly string[];
  validate(copy: JsonValue): Validated;
  revalidate(copy: JsonValue): Validated;
}

/** A schema of any kind, ready for use. It is converted and compiled once, at the first use. */
export interface BoundSchema {
  readonly kind: SchemaKind;
  /** False for a schema from outside. */
  readonly trusted: boolean;
  /** The frozen JSON Schema. */
  readonly json: JsonObject;
  /** The schema of the vendor; undefined for a JSON Schema. */
  readonly vendor?: unknown;
  /** Whether code of the host may run while a value is validated. */
  readonly runsHostCode: boolean;
  /**
   * Takes the engine, if the schema is a plain one. It must be called before the methods below.
   * @param find May throw. It gets what needs the engine.
   */
  prepare(find: (what: string) => SchemaEngine): void;
  /**
   * Checks the JSON Schema for what the library's validator refuses. Returns pointers to the
   * patterns that will run natively.
   * @throws MisuseError `invalid_schema`.
   */
  check(): readonly string[];
  /**
   * Validates a private JSON copy. A raw schema of an input fills its defaults into that copy;
   * other kinds return what they parsed. Never throws and never rejects: if the validator throws,
   * the outcome is one issue, with what it threw as `fault`.
   */
  validate(copy: JsonValue): Validated | Promise<Validated>;
  /**
   * Validates a value that was accepted and filled before, such as the input of a call that waited.
   * It differs from `validate` because the defaults of a raw schema need not match that schema.
   */
  revalidate(copy: JsonValue): Validated | Promise<Validated>;
}

export interface BindOptions {
  readonly direction: Direction;
  /** The name of the place in errors. */
  readonly where: string;
  /** True for arguments and knobs, which are objects. An output may be anything. */
  readonly objectOnly: boolean;
  /** False for schemas from outside, all of whose patterns must be ones that RE2 can run. */
  readonly trusted: boolean;
}

/**
 * Makes a schema ready. This is cheap: only the private copy of a raw schema is made yet.
 * @throws MisuseError `invalid_schema` when `schema` is not a schema, or is plainly of no object
 * where one is needed.
 */
export function bindSchema(schema: unknown, options: BindOptions): BoundSchema {
  const kind = schemaKind(schema);
  if (kind === undefined) {
    throw new MisuseError(
      'invalid_schema',
      `${options.where}: expected a zod schema, a Standard Schema or a JSON Schema object, ` +
        `got ${describe(schema)}.`,
    );
  }
  if (kind === 'json') return new RawSchema(schema, options);
  if (options.objectOnly) checkNotPlain(schema, kind, options.where);
  return new VendorSchema(schema, kind, options);
}

class RawSchema implements BoundSchema {
  readonly kind = 'json';
  readonly runsHostCode = false;
  readonly trusted: boolean;
  readonly json: JsonObject;
  readonly #options: BindOptions;
  #validator: RawValidator = unready;

  constructor(schema: unknown, options: BindOptions) {
    const json = toJsonSchema(schema, options.direction, options.where);
    this.json = options.objectOnly ? asObjectSchema(json, options.where) : json;
    this.#options = options;
    this.trusted = options.trusted;
  }

  prepare(find: (what: string) => SchemaEngine): void {
    const { where } = this.#options;
    this.#validator = find(`${where}: a plain JSON Schema`).bind(this.json, this.#options);
  }

  check(): readonly string[] {
    return this.#validator.check();
  }

  validate(copy: JsonValue): Validated {
    return this.#validator.validate(copy);
  }

  revalidate(copy: JsonValue): Validated {
    return this.#validator.revalidate(copy);
  }
}

const unready: RawValidator = {
  check: () => {
    throw noEngine();
  },
  validate: () => threw(noEngine()),
  revalidate: () => threw(noEngine()),
};

function noEngine(): Error {
  return new Error('no registry that runs plain JSON Schemas has the tool');
}

class VendorSchema implements BoundSchema {
  readonly kind: SchemaKind;
  readonly trusted: boolean;
  readonly vendor: unknown;
  readonly #options: BindOptions;
  readonly #props: object;
  #validate: (value: unknown) => unknown;
  #runsHostCode: boolean | undefined;
  #json: JsonObject | undefined;

  constructor(schema: unknown, kind: SchemaKind, options: BindOptions) {
    this.kind = kind;
    this.trusted = options.trusted;
    this.vendor = schema;
    this.#options = options;
    const props = (schema as { '~standard': { validate(value: unknown): unknown } })['~standard'];
    this.#props = props;
    // The function is kept, so that a schema that is changed later still validates as the model was
    // shown it.
    this.#validate = props.validate;
    if (kind !== 'zod4') return;
    // This is determined at the first value, because a schema may refer to others that do not exist
    // yet.
    const { validate } = props;
    const explain = (value: unknown): unknown => validate.call(props, value);
    this.#validate = (value) => {
      this.#validate = hasHostCode(schema)
        ? (next) => runWithPromises(schema, next, explain)
        : validate;
      return this.#validate.call(props, value);
    };
  }

  get json(): JsonObject {
    if (this.#json === undefined) {
      const json = toJsonSchema(this.vendor, this.#options.direction, this.#options.where);
      this.#json = this.#options.objectOnly ? asObjectSchema(json, this.#options.where) : json;
    }
    return this.#json;
  }

  get runsHostCode(): boolean {
    this.#runsHostCode ??= this.kind !== 'zod4' || hasHostCode(this.vendor, true);
    return this.#runsHostCode;
  }

  /** Its own code runs it. */
  prepare(): void {}

  check(): readonly string[] {
    void this.json;
    return [];
  }

  validate(copy: JsonValue): Validated | Promise<Validated> {
    try {
      const result = this.#validate.call(this.#props, copy) as
        | StandardResult
        | PromiseLike<StandardResult>;
      // Nearly every call takes this path. A thenable may have a `value`, but only on its
      // prototype.
      if (
        result &&
        Object.hasOwn(result, 'value') &&
        (result as StandardResult).issues === undefined
      )
        return result as Validated;
      if (isThenable(result))
        return Promise.resolve(result as PromiseLike<StandardResult>)
          .then(readStandard)
          .catch(threw);
      return readStandard(result as StandardResult);
    } catch (error) {
      return threw(error);
    }
  }

  revalidate(copy: JsonValue): Validated | Promise<Validated> {
    return this.validate(copy);
  }
}

function threw(error: unknown): Validated {
  const name = error instanceof Error ? error.name : 'a value';
  return {
    issues: [
      { path: '', message: `validation itself failed (${name} was thrown); correct the schema` },
    ],
    fault: { thrown: error },
  };
}

function readStandard(result: StandardResult): Validated {
  if (
    typeof result !== 'object' ||
    result === null ||
    (result.issues === undefined && !('value' in result))
  ) {
    const thrown = new TypeError(
      `Expected the schema to answer { value } or { issues }, got ${describe(result)}.`,
    );
    return {
      issues: [{ path: '', message: 'validation returned an invalid answer; correct the schema' }],
      fault: { thrown },
    };
  }
  if (result.issues === undefined) return { value: result.value };
  return {
    issues: result.issues.slice(0, 20).map((issue) => ({
      path: pathText(issue.path),
      message: typeof issue.message === 'string' ? withoutEcho(issue.message) : 'invalid',
    })),
    fault: undefined,
  };
}

function pathText(path: readonly unknown[] | undefined): string {
  if (path === undefined || path.length === 0) return '';
  // Most paths are one name, which is the text already.
  if (path.length === 1 && typeof path[0] === 'string') return path[0];
  return path
    .map((part) =>
      String(
        typeof part === 'object' && part !== null && 'key' in part
          ? (part as { key: unknown }).key
          : part,
      ),
    )
    .join('.');
}

/**
 * Refuses a schema that is plainly of no object, before it is converted.
 * @throws MisuseError `invalid_schema`
 */
function checkNotPlain(schema: unknown, kind: SchemaKind, where: string): void {
  const type = plainTypeOf(schema, kind);
  if (type !== undefined) asObjectSchema({ type }, where);
}

/**
 * States `type: object`, which the arguments of a tool always are and which models and protocols
 * expect to read.
 */
function asObjectSchema(schema: JsonObject, where: string): JsonObject {
  const { type } = schema;
  if (type === 'object') return schema;
  if (type === undefined) return Object.freeze({ type: 'object', ...schema });
  throw new MisuseError(
    'invalid_schema',
    `${where}: expected a schema of an object (type "object"), got type ` +
      `${JSON.stringify(type)}. Give the value a name: wrap the value in an object.`,
  );
}
