/**
 * Writes a definition to a tape, makes a definition from what is on a tape, and brings inputs into
 * the form in which they are compared.
 */

import { internalsOf, seal } from '../../../core/tool/definition.ts';
import type { AnyTool, JsonValue } from '../../../core.ts';
import { createDefinition } from '../../../extend.ts';
import { canonicalJson, cloneJson, isJsonObject } from '../../../values/json/index.ts';
import { schemaEngine } from '../../../values/json-schema/engine.ts';
import { createRedactor } from '../../../values/redaction/redactor.ts';
import { scrubStrings } from '../../../values/redaction/scrub.ts';
import { Secrets } from '../../../values/redaction/secrets.ts';
import type { TapeTool } from './tape.ts';

/** How a definition validates its input. */
export type InputSchema = ReturnType<typeof internalsOf>['input'];
/** The handler at replay. */
export type TapeHandler = NonNullable<ReturnType<typeof internalsOf>['handler']>;

/** An input as tapes hold it. */
export interface TapedInput {
  readonly value: JsonValue;
  /** Equal for equal inputs, whatever the order of their keys. */
  readonly text: string;
}

/** Brings inputs of one tool into the form in which tapes hold them. */
export interface InputForm {
  /** @param known Further secrets to redact. */
  of(input: JsonValue, known?: Secrets): TapedInput;
}

/** A definition as a tape holds it. */
export function tapeToolOf(definition: AnyTool): TapeTool {
  const { name, description, title, version, category, tags, annotations, fingerprint } =
    definition;
  const {
    input,
    output,
    knobs,
    requires,
    provides,
    execution: { parallelSafe, resourceKey },
  } = internalsOf(definition);
  return {
    name,
    description,
    ...(title === undefined ? {} : { title }),
    ...(version === undefined ? {} : { version }),
    ...(category === undefined ? {} : { category }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    parameters: input.json,
    ...(output === undefined ? {} : { outputSchema: output.json }),
    ...(knobs === undefined ? {} : { knobs: knobs.json }),
    ...(requires.length === 0 ? {} : { requires }),
    ...(provides.length === 0 ? {} : { provides }),
    parallelSafe,
    ...(typeof resourceKey === 'string' ? { resourceKey } : {}),
    fingerprint,
  };
}

/**
 * Makes the definition that the tape describes. It accepts any output: a recorded output has passed
 * its schema once, and what replaces it on the tape, such as a redacted number, might not.
 * @throws MisuseError `invalid_definition` or `invalid_schema`.
 */
export function definitionOf(
  tool: TapeTool,
  handler: TapeHandler,
  inputOf: (raw: InputSchema) => InputSchema = (raw) => raw,
): AnyTool {
  const { fingerprint: _fingerprint, knobs, ...config } = tool;
  const definition = createDefinition({
    ...config,
    handler,
    ...(knobs === undefined ? {} : { policy: { knobs } }),
  });
  const internals = internalsOf(definition);
  const { input, output } = internals;
  for (const schema of [input, output, internals.knobs]) {
    schema?.prepare(() => schemaEngine);
    schema?.check();
  }
  const accept = (value: JsonValue): { readonly value: JsonValue } => ({ value });
  const { name, description, title, version, category, deprecated, annotations, tags } = definition;
  return seal(
    { name, description, title, version, category, deprecated, annotations, tags },
    {
      ...internals,
      input: inputOf(input),
      output:
        output === undefined
          ? undefined
          : { ...overlay(output), validate: accept, revalidate: accept },
    },
  );
}

/**
 * Returns the members of a schema as plain properties, so that they can be spread and partly
 * replaced.
 */
export function overlay(schema: InputSchema): InputSchema {
  const { kind, trusted, json } = schema;
  return {
    kind,
    trusted,
    json,
    runsHostCode: true,
    prepare: (find) => schema.prepare(find),
    check: () => schema.check(),
    validate: (copy) => schema.validate(copy),
    revalidate: (copy) => schema.revalidate(copy),
  };
}

/**
 * The form of a tool's inputs: with the defaults of the JSON Schema, then with secrets redacted.
 * The defaults are needed since a zod schema fills in its own for the handler only, but the schema
 * on a tape for everyone.
 */
export function inputFormOf(tool: TapeTool, paths: readonly string[]): InputForm {
  const redactor = createRedactor(tool.parameters, paths);
  const { input: schema } = internalsOf(
    createDefinition({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      handler: () => null,
    }),
  );
  schema.prepare(() => schemaEngine);
  return {
    of: (input, known) => {
      const filled = cloneJson(input);
      // If the copy is valid, this fills in its defaults. It does not matter here if it is not.
      if (isJsonObject(filled)) void schema.validate(filled);
      const secrets = new Secrets(known);
      const value = scrubStrings(redactor?.redact(filled, undefined, secrets) ?? filled, secrets);
      return { value, text: canonicalJson(value) };
    },
  };
}
