/**
 * Compiles JSON Schemas to closures. A schema is checked once, compiled at the first use, and run
 * without generated code.
 */
import { canonicalJson, cloneJson, copyJson, type JsonValue } from '../json/index.ts';
import { type JsonSchemaDocument, schemaError } from '../schema/dialect.ts';
import type { CompiledSchema, SchemaIssue } from '../schema/schema.ts';
import { type Check, type Context, exhausted, isPolluted } from './compile-context.ts';
import { compileDefaults, type Fill } from './compile-defaults.ts';
import { compileNodes } from './compile-node.ts';
import { walkSchema } from './json-schema-check.ts';

export type { JsonSchemaDocument } from '../schema/dialect.ts';
export type { CompiledSchema, SchemaIssue } from '../schema/schema.ts';

export interface CompileOptions {
  /**
   * True for the host's own schema: a pattern that the linear engine cannot run then runs natively.
   * A schema from outside is refused if it has such a pattern.
   */
  readonly trusted: boolean;
  /**
   * Maximum steps of one validation; about one for each schema that is applied to a value.
   * @default 400_000 for a trusted schema, else 200_000
   */
  readonly maxSteps?: number | undefined;
}

/** About 50 ms of work on a small machine. */
const trustedSteps = 400_000;
const untrustedSteps = 200_000;
/**
 * Bounds of a schema as a document. They are generous, because an enum of hundreds of thousands of
 * values is legal.
 */
const documentLimits = { maxDepth: 1_000, maxValues: 2_000_000 };

/**
 * Checks a schema without compiling it, which is cheap enough for every registration.
 * @returns pointers to the patterns that only the native engine can run; none unless trusted
 * @throws MisuseError `invalid_schema` that names the place in the schema and the remedy
 */
export function checkSchema(
  schema: JsonSchemaDocument,
  options: CompileOptions,
): { readonly nativePatterns: readonly string[] } {
  return walkSchema(schema, { trusted: options.trusted });
}

/**
 * Compiles a schema of draft-07 or 2020-12, as `$schema` says; 2020-12 without it.
 * @throws MisuseError `invalid_schema` as {@link checkSchema} does
 */
export function compileSchema(schema: JsonSchemaDocument, options: CompileOptions): CompiledSchema {
  const copy = copyJson(schema, documentLimits);
  if (!copy.ok) throw schemaError(copy.path, copy.message);
  const document = copy.value as JsonSchemaDocument;
  const checked = walkSchema(document, { trusted: options.trusted });
  try {
    const { check, targets } = compileNodes(document, checked, options.trusted);
    const fill = checked.hasDefaults
      ? compileDefaults(document, {
          dialect: checked.dialect,
          target: (holder) => targets.get(holder),
        })
      : undefined;
    return validator(
      check,
      fill,
      options.maxSteps ?? (options.trusted ? trustedSteps : untrustedSteps),
    );
  } catch (error) {
    if (error instanceof RangeError)
      throw schemaError('', 'the schema is nested too deeply', error);
    throw error;
  }
}

function validator(check: Check, fill: Fill | undefined, maxSteps: number): CompiledSchema {
  const context: Context = { steps: maxSteps, issues: undefined, polluted: false, scope: [] };
  const start = (issues: Context['issues']): void => {
    context.steps = maxSteps;
    context.issues = issues;
    context.polluted = isPolluted();
    if (context.scope.length > 0) context.scope.length = 0;
  };
  const stop = (error: unknown): readonly SchemaIssue[] => [
    {
      path: '',
      message:
        error === exhausted
          ? 'takes too many steps to validate against its schema; send less'
          : 'cannot be validated against its schema',
    },
  ];
  /** The second pass, which finds the issues of a refused value. */
  const explain = (value: JsonValue): readonly SchemaIssue[] => {
    const issues: { path: string; message: string }[] = [];
    start(issues);
    check(value, context);
    return issues.length > 0 ? issues : [{ path: '', message: 'does not match the schema' }];
  };
  return {
    validate(value, fills = true) {
      start(undefined);
      try {
        if (!check(value, context)) return explain(value);
        if (fills) fill?.(value, context, false);
        return undefined;
      } catch (error) {
        return stop(error);
      }
    },
    revalidate(value) {
      start(undefined);
      try {
        if (check(value, context)) return undefined;
        if (fill === undefined) return explain(value);
        const bare = cloneJson(value);
        start(undefined);
        fill(bare, context, true);
        return check(bare, context) ? undefined : explain(bare);
      } catch (error) {
        return stop(error);
      }
    },
  };
}

/** Compiled schemas by their text. */
export interface SchemaCache {
  compile(schema: JsonSchemaDocument, options: CompileOptions): CompiledSchema;
}

/**
 * A cache that keeps the `max` most recently used schemas.
 * @param max at least 1; default 1 000
 */
export function createSchemaCache(max = 1_000): SchemaCache {
  const entries = new Map<string, CompiledSchema>();
  return {
    compile(schema, options) {
      const key = `${options.trusted ? 't' : 'u'}${options.maxSteps} ${textOf(schema)}`;
      const found = entries.get(key);
      if (found !== undefined) {
        entries.delete(key);
        entries.set(key, found);
        return found;
      }
      const compiled = compileSchema(schema, options);
      entries.set(key, compiled);
      if (entries.size > max) {
        const [oldest] = entries.keys();
        entries.delete(oldest as string);
      }
      return compiled;
    },
  };
}

function textOf(schema: JsonSchemaDocument): string {
  try {
    return canonicalJson(schema);
  } catch (error) {
    throw schemaError('', 'the schema is nested too deeply', error);
  }
}
