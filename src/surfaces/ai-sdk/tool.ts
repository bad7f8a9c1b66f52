/** A tool as the AI SDK takes it: the part of its `Tool` type that versions 6 and 7 share. */
import type { AnyTool, JsonSchema, JsonValue, ToolRef, ToolResult } from '../../core.ts';

/** JSON, as the SDK types it. */
export type AiSdkJson =
  | null
  | string
  | number
  | boolean
  | AiSdkJson[]
  | { [key: string]: AiSdkJson };

/** What the SDK passes to a tool with each call. */
export interface AiSdkCall {
  /** The model's id of the call. It becomes the session's call id. */
  readonly toolCallId: string;
  /** The conversation before the model's answer with the call. */
  readonly messages?: readonly unknown[];
  /** Ends the call when the run is aborted. */
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * What `execute` resolves to: the session's result, with what is needed to go on with it after a
 * round trip through JSON.
 */
export type AiSdkResult<O = unknown> = ToolResult<O> & {
  /** The output is a list of content parts. */
  readonly content?: true;
  /** The call is suspended: the id for `session.approvals.outcome`. It is no secret. */
  readonly approvalId?: string;
};

/**
 * A preliminary result of the SDK: a value that a generator handler has yielded. Unlike a result,
 * it has no `success`.
 */
export interface AiSdkPreliminary {
  readonly success?: undefined;
  /** Always true. */
  readonly preliminary: true;
  /** The yielded value. A yielded text or progress is `{ done, total?, message? }`. */
  readonly yielded: JsonValue;
}

/**
 * One part of a tool's answer, in the forms that both versions take. Version 7 gets files as
 * `{ type: "file", data: { type: "data", data }, mediaType }`, for which version 6 has no type.
 */
export type AiSdkPart =
  | { type: 'text'; text: string }
  /** Base64. */
  | { type: 'image-data' | 'file-data'; data: string; mediaType: string };

/** What the model sees of a result. */
export type AiSdkOutput =
  | { type: 'text'; value: string }
  | { type: 'json'; value: AiSdkJson }
  | { type: 'content'; value: AiSdkPart[] }
  /** A failed call. `providerOptions["host-tools"].error` is `{ code, reason?, ruleId? }`. */
  | {
      type: 'error-text';
      /** The text of the error for the model. */
      value: string;
      /** The error's code, reason and rule. */
      providerOptions?: { 'host-tools': { error: { [key: string]: string } } };
    };

/**
 * An input schema with the SDK's own mark, so that the SDK shows the JSON Schema unchanged. It
 * accepts everything, because the session validates.
 */
export interface AiSdkSchema<I = never> {
  /** Accepts everything. Only the types need it: the SDK's own mark has no public name. */
  readonly '~standard': {
    readonly version: 1;
    /** The name of this package. */
    readonly vendor: string;
    /** Returns the value unchanged. */
    readonly validate: (value: unknown) => { readonly value: I };
  };
  /** The tool's JSON Schema. Frozen. */
  readonly jsonSchema: object;
}

/** A tool of the session. Frozen. The types of its input and output are not known. */
export interface AiSdkTool extends AiSdkToolBase<unknown, unknown, never> {
  /** With it, the SDK types the results as unknown. */
  readonly type: 'dynamic';
}

/** A tool of the session, with the types of its definition. Frozen. */
export interface AiSdkTypedTool<I, O> extends AiSdkToolBase<I, O, I> {
  /** Absent, so that the SDK types the results. */
  readonly type?: undefined;
}

/** The members of both kinds of tools. `S` is the type that the schema declares. */
interface AiSdkToolBase<I, O, S> {
  /** What the tool does and when to use it, for the model. */
  readonly description: string;
  /** A name for people, if the definition has one. */
  readonly title?: string;
  /**
   * `{ hostTool: { name, source, annotations } }`. The SDK adds it to the parts of a call as
   * `toolMetadata`. No model sees it.
   */
  readonly metadata: { [key: string]: AiSdkJson };
  /** The tool's JSON Schema, without the patterns that `warnings` name. */
  readonly inputSchema: AiSdkSchema<S>;
  /** Only with `approvals: "sdk"`: whether the call needs an approval. */
  readonly needsApproval?: (input: I, call: AiSdkCall) => Promise<boolean>;
  /**
   * Calls the tool. A failure is a result, and the promise never rejects, unless `failures` is
   * "errors". If the handler is a generator, the promise can also be iterated: it gives what the
   * handler yields, and the result last. If awaited, it always gives the result.
   */
  readonly execute: (input: I, call: AiSdkCall) => Promise<AiSdkResult<O> | AiSdkPreliminary>;
  /**
   * Returns what the model sees: text, JSON if the tool declares an output schema, content parts,
   * or `error-text` for a failure.
   */
  readonly toModelOutput: (answer: { readonly output: unknown }) => AiSdkOutput;
}

// The types of a tool set that was made from definitions.

/** A character that all providers accept in a name. */
type Plain = Letter | Uppercase<Letter> | Digit | '_' | '-';
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
// biome-ignore format: two lines instead of 26
type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm'
  | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z';

/**
 * The shown name of a tool: every character other than a letter, a digit, `_` and `-` becomes `_`.
 * Names that are too long, or that clash with another tool's, are shown differently.
 */
export type AiSdkShownName<Name extends string, Done extends string = ''> = string extends Name
  ? string
  : Name extends `${infer First}${infer Rest}`
    ? AiSdkShownName<Rest, `${Done}${First extends Plain ? First : '_'}`>
    : Done;

/** Computes the same name at run time, to find names for which the type is wrong. */
export function typedName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** The session's tools by shown name. Tools that were given as definitions are typed. */
export type AiSdkToolSet<Tools extends readonly AnyTool[] | undefined> =
  Tools extends readonly AnyTool[]
    ? {
        readonly [Tool in Tools[number] as AiSdkShownName<Tool['name']>]: Tool extends ToolRef<
          infer I,
          infer O
        >
          ? AiSdkTypedTool<I, O>
          : never;
      }
    : { readonly [name: string]: AiSdkTool };

// A JSON Schema as the SDK's own schema object.

/** The mark by which every version of the SDK recognises its own schemas. */
const schemaMark = Symbol.for('vercel.ai.schema');

const wrapped = new WeakMap<JsonSchema, AiSdkSchema>();

/**
 * Wraps a schema, unchanged and without a validator: invalid arguments must reach the session,
 * whose error names each path. The same object for the same schema.
 */
export function wrapSchema(schema: JsonSchema): AiSdkSchema {
  const before = wrapped.get(schema);
  if (before !== undefined) return before;
  const made = Object.freeze({
    [schemaMark]: true,
    jsonSchema: schema,
    // The SDK checks that the member exists.
    validate: undefined,
    '~standard': Object.freeze({
      version: 1 as const,
      vendor: 'host-tools',
      validate: (value: unknown) => ({ value: value as never }),
    }),
  });
  wrapped.set(schema, made);
  return made;
}
