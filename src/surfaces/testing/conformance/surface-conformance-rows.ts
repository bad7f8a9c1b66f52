/** The calls of the conformance suite of surfaces, and the features that some of them need. */

/**
 * The features that a surface may lack.
 *
 * @example
 * ```ts
 * import { surfaceFeatures } from 'host-tools/testing';
 *
 * console.log(surfaceFeatures); // the names that `features` of `surfaceConformance` takes
 * ```
 */
export const surfaceFeatures = {
  errors: 'a failed call is marked as one',
  codes: 'the error code is shown',
  unlisted: 'a call to a tool that is not listed reaches the session',
  cancel: 'the caller can cancel a call',
  notObjects: 'arguments that are not an object reach the session',
  noArguments: 'the forms in which models send no arguments are read as an empty object',
} as const satisfies Record<string, string>;

/** The name of a feature whose rules can be left out of the suite. */
export type SurfaceFeature = keyof typeof surfaceFeatures;

/** One rule: a call through the surface ends as a direct call does. */
export interface SurfaceRow {
  readonly title: string;
  readonly tool: string;
  /** @default {} */
  readonly input?: unknown;
  /** The input of the direct call, if it is another. */
  readonly direct?: object;
  readonly needs?: readonly SurfaceFeature[];
}

export const surfaceRows: readonly SurfaceRow[] = [
  { title: 'text', tool: 'text', input: { value: 'plain' } },
  { title: 'an empty text', tool: 'text', input: { value: '' } },
  {
    title: 'unicode: emoji, combining marks, right-to-left, a line break',
    tool: 'text',
    input: { value: 'na\u0308ive 👩‍💻 שלום\nnext' },
  },
  {
    title: 'control characters and a lone surrogate, which no model should read',
    tool: 'text',
    input: { value: 'a\u0007b\ud800c' },
  },
  { title: 'a number', tool: 'echo', input: { value: 0 } },
  { title: 'false', tool: 'echo', input: { value: false } },
  { title: 'null', tool: 'echo', input: { value: null } },
  { title: 'an array', tool: 'echo', input: { value: [1, { two: 2 }] } },
  { title: 'an object', tool: 'object' },
  {
    title: 'an object that looks like content parts but is not',
    tool: 'echo',
    input: { value: [{ type: 'text', text: 'no part' }] },
  },
  {
    title: 'keys such as __proto__ and constructor',
    tool: 'echo',
    input: JSON.parse('{"value":{"constructor":1,"__proto__":2}}'),
  },
  { title: 'no output', tool: 'nothing' },
  { title: 'no arguments', tool: 'no_input' },
  ...[
    ['an empty text', ''],
    ['white space', ' \n\t'],
    ['null', null],
    ['nothing', undefined],
  ].flatMap(([form, input]): SurfaceRow[] =>
    ['no_input', 'typed'].map((tool) => ({
      title: `no arguments as ${form}: ${tool === 'typed' ? 'invalid_input' : 'runs'}`,
      tool,
      input,
      direct: {},
      needs: ['noArguments'],
    })),
  ),
  { title: 'content parts', tool: 'parts' },
  { title: 'an output with a schema', tool: 'declared' },
  { title: 'an output with a schema that is not an object', tool: 'declared_list' },
  { title: 'metadata of the handler, which models do not read', tool: 'noted' },
  { title: 'an output over its limit', tool: 'big' },
  { title: 'progress', tool: 'reports' },
  { title: 'invalid_input: a missing property', tool: 'typed', input: {} },
  { title: 'invalid_input: a wrong type', tool: 'typed', input: { count: 'many' } },
  {
    title: 'invalid_input: arguments that are not an object',
    tool: 'typed',
    input: [1],
    needs: ['notObjects'],
  },
  { title: 'tool_not_found', tool: 'nowhere', needs: ['unlisted'] },
  {
    title: 'tool_not_found: a name that every object inherits',
    tool: 'constructor',
    needs: ['unlisted'],
  },
  { title: 'tool_not_found: an internal tool', tool: 'internal', needs: ['unlisted'] },
  { title: 'tool_not_available: a fact', tool: 'gated', needs: ['unlisted'] },
  { title: 'tool_not_available: disabled', tool: 'disabled', needs: ['unlisted'] },
  { title: 'policy_denied', tool: 'denied', input: { value: 'no' } },
  { title: 'policy_denied: a tool that a rule hides', tool: 'forbidden', needs: ['unlisted'] },
  { title: 'policy_error', tool: 'broken_policy' },
  { title: 'handler_error: a failure with a reason', tool: 'failing' },
  { title: 'handler_error: a handler that throws', tool: 'throwing' },
  { title: 'timeout', tool: 'slow' },
  { title: 'invalid_output: not JSON', tool: 'circular' },
  { title: 'invalid_output: does not match its schema', tool: 'wrong_output' },
];
