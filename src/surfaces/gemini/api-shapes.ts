/**
 * The tool-related parts of the Gemini API's requests and responses. The types are structural, so
 * the client's own types are compatible.
 */

/**
 * A function as the Gemini API takes it: with `parametersJsonSchema`, or with `parameters` in the
 * API's own subset.
 */
export interface GeminiFunctionDeclaration {
  /** The shown name. */
  name: string;
  /** The tool's description. */
  description: string;
  /** The input schema as JSON Schema. */
  parametersJsonSchema?: { [keyword: string]: unknown };
  /**
   * The input schema as the API's `Schema`. The client has its own enumeration for `type`, so the
   * values are typed as `never`.
   */
  parameters?: { [keyword: string]: never };
}

/** A tool of a request, which contains all functions. */
export interface GeminiTool {
  /** In effective order. */
  functionDeclarations: GeminiFunctionDeclaration[];
}

/** A call of the model. */
export interface GeminiFunctionCall {
  /** Often absent. The answers are then in the order of the calls. */
  readonly id?: string | undefined;
  /** The shown name. */
  readonly name?: string | undefined;
  /** The arguments. */
  readonly args?: { readonly [name: string]: unknown } | undefined;
}

/** The members of a part that are read. */
export interface GeminiPart {
  /** Ignored. */
  readonly text?: string | undefined;
  /** A call. */
  readonly functionCall?: GeminiFunctionCall | undefined;
}

/** The members of a content that are read. */
export interface GeminiContent {
  /** The author; not read. */
  readonly role?: string | undefined;
  /** Its parts. */
  readonly parts?: readonly GeminiPart[] | undefined;
}

/** The members of a response that are read. */
export interface GeminiResponse {
  /** Alternative answers. Only the first is read, because only it continues the conversation. */
  readonly candidates?: readonly { readonly content?: GeminiContent | undefined }[] | undefined;
}

/** The answer to a call: a part of the next user content. */
export interface GeminiFunctionResponsePart {
  /** The answer. */
  functionResponse: GeminiFunctionResponse;
}

/** The result of a call. */
export interface GeminiFunctionResponse {
  /** The id of the call, if it had one. */
  id?: string;
  /** The name from the call. */
  name: string;
  /**
   * `output` is the text of the result; `structured` is added if the tool declares an output
   * schema. A failed call has `error` instead.
   */
  response:
    | { output: string; structured?: { [key: string]: unknown } }
    | { error: { message: string; code: string; reason?: string; ruleId?: string } };
  /** Images and documents that the API accepts. */
  parts?: { inlineData: { mimeType: string; data: string } }[];
}
