/** A tool that an application offers over a relay. */
import type { JsonValue } from './json.ts';
import { relayClientError } from './relay-client-error.ts';

/** The arguments of a call. The relay has checked them against the tool's `parameters`. */
export interface RelayArguments {
  readonly [name: string]: JsonValue | undefined;
}

/** What a handler learns about its call. */
export interface RelayCallContext {
  /** The id of the call. A call that is delivered again has the same id and does not run again. */
  readonly requestId: string;
  /**
   * Aborts when the answer is no longer needed: the call was cancelled, its deadline has passed, or
   * the connection was closed.
   */
  readonly signal: AbortSignal;
  /**
   * When the caller stops waiting, in epoch milliseconds by the clock of this machine. It is an
   * estimate, because the relay's clock may differ.
   */
  readonly deadline: number;
  /** How often the relay has delivered this call, from 1. */
  readonly attempt: number;
  /**
   * Tells agents how far the call has got. Reports that come faster than four times a second are
   * left out, except for the newest one of each call. A relay may limit and drop reports, so none
   * is certain to arrive. Values that are not numbers from 0 are ignored.
   * @param done how much is done, in a unit of your choice
   * @param total how much there is in total
   * @param message one line; over 256 bytes it is cut
   */
  progress(done: number, total?: number, message?: string): void;
}

/** Hints about a tool for the relay. All are false by default. */
export interface RelayToolAnnotations {
  /** The tool changes nothing. */
  readonly readOnly?: boolean | undefined;
  /** The tool may destroy or overwrite data. */
  readonly destructive?: boolean | undefined;
  /**
   * Calling again with the same arguments has no further effect. A call that was lost with one page
   * may therefore be given to the next.
   */
  readonly idempotent?: boolean | undefined;
  /** The tool reaches beyond the application, such as the network or other people. */
  readonly openWorld?: boolean | undefined;
}

/** A tool: what agents see of it, and the handler that runs. */
export interface RelayTool {
  /** The tool's name, unique among the application's tools. */
  readonly name: string;
  /** What the tool does and when to use it. Models read it. */
  readonly description: string;
  /**
   * A JSON Schema of type object. The relay checks arguments against it before a call gets here.
   */
  readonly parameters: object;
  /** A JSON Schema of the result. */
  readonly outputSchema?: object | undefined;
  /** A name for people. */
  readonly title?: string | undefined;
  /** Hints for policies and for delivery. */
  readonly annotations?: RelayToolAnnotations | undefined;
  /**
   * Runs a call. The result is what it returns or resolves to: any JSON value of at most 4 MB;
   * undefined becomes null. If it throws, the error's message goes to the agent unchanged. Calls
   * run in parallel. The type of `args` may be written out, as in
   * `handler({ path }: { path: string })`.
   */
  handler(args: RelayArguments, context: RelayCallContext): unknown;
}

/**
 * A {@link RelayTool}, or the same with the names of other libraries: `inputSchema` for
 * `parameters`, and `execute` for `handler`. A tool has one name of each pair.
 */
export type RelayToolInput<Args extends object = RelayArguments> = Omit<
  RelayTool,
  'parameters' | 'handler'
> &
  (
    | { readonly inputSchema: object; readonly parameters?: undefined }
    | { readonly parameters: object; readonly inputSchema?: undefined }
  ) &
  (
    | { execute(args: Args, context: RelayCallContext): unknown; readonly handler?: undefined }
    | { handler(args: Args, context: RelayCallContext): unknown; readonly execute?: undefined }
  );

/** A {@link RelayTool} whose arguments have a type. */
export interface TypedRelayTool<Args extends object> extends Omit<RelayTool, 'handler'> {
  /** The same as {@link RelayTool.handler}. */
  handler(args: Args, context: RelayCallContext): unknown;
}

/**
 * Gives a tool's arguments a type that cannot be written in place, such as an interface:
 * `relayTool<ReadArgs>({ … })`. The type is not checked at run time; the relay checks `parameters`.
 *
 * @example
 * ```ts
 * import { relayTool } from 'host-tools/relay/client';
 *
 * interface ReadArgs {
 *   path: string;
 * }
 * const read = relayTool<ReadArgs>({
 *   name: 'read',
 *   description: 'Reads a page.',
 *   parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
 *   handler: ({ path }) => `the text of ${path}`,
 * });
 * ```
 */
export function relayTool<Args extends object>(tool: RelayToolInput<Args>): RelayTool {
  return withOwnNames(tool) as RelayTool;
}

// Takes the names that other libraries have for `parameters` and `handler`.

const otherNames = [
  ['parameters', 'inputSchema'],
  ['handler', 'execute'],
] as const;

/** Every field of a tool. */
export const toolFields: readonly (keyof RelayToolInput)[] = [
  'name',
  'description',
  'parameters',
  'outputSchema',
  'title',
  'annotations',
  'handler',
  'inputSchema',
  'execute',
];

/** The same tool with `parameters` and `handler`. Throws `invalid_options` for both of a pair. */
export function withOwnNames<Args extends object>(
  tool: RelayToolInput<Args>,
): TypedRelayTool<Args> {
  const given = tool as Readonly<Record<string, unknown>> | null | undefined;
  const other = otherNames.filter(([, name]) => given?.[name] !== undefined);
  if (given === null || given === undefined || other.length === 0)
    return tool as TypedRelayTool<Args>;
  for (const [name, alias] of other)
    if (given[name] !== undefined)
      throw relayClientError(
        'invalid_options',
        `The tool ${JSON.stringify(given.name)} has both \`${name}\` and \`${alias}\`, which are ` +
          'two names of the same field. Leave one of them out.',
      );
  const own = { ...given } as Record<string, unknown> & TypedRelayTool<Args>;
  const members: Record<string, unknown> = own;
  // A tool may be an object of a class, which inherits members and uses `this`.
  for (const name of toolFields) {
    const value = given[name];
    if (value !== undefined) members[name] = typeof value === 'function' ? value.bind(tool) : value;
  }
  for (const [name, alias] of other) {
    members[name] = members[alias];
    delete members[alias];
  }
  return own;
}
