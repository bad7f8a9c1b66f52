/**
 * What goes to the Gemini API and comes back, as far as tools are concerned. Structural: the
 * client's own types fit.
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
   * The input schema as the API's `Schema`; the client types its `type` as an enumeration of its
   * own.
   */
  parameters?: { [keyword: string]: never };
}

/** A tool of a request: the functions together. */
export interface GeminiTool {
  /** In effective order. */
  functionDeclarations: GeminiFunctionDeclaration[];
}

/** A call of the model. */
export interface GeminiFunctionCall {
  /** Often absent: answers then stand in the order of the calls. */
  readonly id?: string | undefined;
  /** The shown name. */
  readonly name?: string | undefined;
  /** The arguments. */
  readonly args?: { readonly [name: string]: unknown } | undefined;
}

/** A part of a content, as far as it is read. */
export interface GeminiPart {
  /** Passed over. */
  readonly text?: string | undefined;
  /** A call. */
  readonly functionCall?: GeminiFunctionCall | undefined;
}

/** A content, as far as it is read. */
export interface GeminiContent {
  /** Who said it; not read. */
  readonly role?: string | undefined;
  /** Its parts. */
  readonly parts?: readonly GeminiPart[] | undefined;
}

/** A response, as far as it is read. */
export interface GeminiResponse {
  /** Alternatives. Only the first is read: the others were never said. */
  readonly candidates?: readonly { readonly content?: GeminiContent | undefined }[] | undefined;
}

/** The answer to a call: a part of the next user content. */
export interface GeminiFunctionResponsePart {
  /** The answer. */
  functionResponse: GeminiFunctionResponse;
}

/** What a call came to. */
export interface GeminiFunctionResponse {
  /** The call's, where it had one. */
  id?: string;
  /** The call's. */
  name: string;
  /**
   * `output` with the text of the result, and `structured` for a tool that declares its output;
   * `error` for a failed call.
   */
  response:
    | { output: string; structured?: { [key: string]: unknown } }
    | { error: { message: string; code: string; reason?: string; ruleId?: string } };
  /** Images and documents that the API takes. */
  parts?: { inlineData: { mimeType: string; data: string } }[];
}
