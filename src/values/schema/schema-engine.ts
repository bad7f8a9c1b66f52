/** What the core needs of the engine for plain JSON Schemas. */

import type { JsonObject, JsonValue } from '../json/index.ts';

/** Runs plain JSON Schemas. Those of vendors run by their own code. */
export interface SchemaEngine {
  /**
   * Returns pointers to the patterns that will run natively.
   * @throws MisuseError `invalid_schema`
   */
  check(schema: JsonObject, trusted: boolean): readonly string[];
  /** @throws MisuseError `invalid_schema` */
  compile(schema: JsonObject, trusted: boolean): CompiledSchema;
}

/** A validator of one plain schema. */
export interface CompiledSchema {
  /**
   * Validates a value that is a private JSON copy, and fills defaults of absent members into it
   * unless `fills` is false. Returns undefined if the value is valid, otherwise at most 20 issues.
   * Never throws; a validation that takes too many steps ends with an issue.
   */
  validate(value: JsonValue, fills?: boolean): readonly SchemaIssue[] | undefined;
  /**
   * Validates a value again that `validate` has accepted and filled, such as the input of a call
   * that waited. An optional member that equals its default counts as absent, because defaults need
   * not match their own schema. Changes nothing.
   */
  revalidate(value: JsonValue): readonly SchemaIssue[] | undefined;
}

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** JSON pointer into the data; `''` is the root. */
  readonly path: string;
  /** What is expected. Never contains the value that was sent. */
  readonly message: string;
}
