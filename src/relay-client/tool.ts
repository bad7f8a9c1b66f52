/** A tool that an application offers over a relay. */
import type { JsonValue } from './json.ts';

/** Arguments of a call, as the relay has checked them against the tool's `parameters`. */
export interface RelayArguments {
  readonly [name: string]: JsonValue | undefined;
}

/** What a handler knows of its call. */
export interface RelayCallContext {
  /** The call's id. A call that is delivered again has it again, and does not run again here. */
  readonly requestId: string;
  /**
   * Aborts when nobody waits for the answer any more: the call was cancelled, its deadline has
   * passed, or the connection was closed.
   */
  readonly signal: AbortSignal;
  /**
   * When nobody waits any more: epoch milliseconds by the clock of this machine, as far as the
   * relay's can be told from it.
   */
  readonly deadline: number;
  /** How often the relay has delivered this call, from 1. */
  readonly attempt: number;
}

/** What a tool is to the relay: hints, all false by default. */
export interface RelayToolAnnotations {
  /** Changes nothing. */
  readonly readOnly?: boolean | undefined;
  /** May destroy or overwrite. */
  readonly destructive?: boolean | undefined;
  /**
   * Calling again with the same arguments changes nothing more: a call that was lost with one page
   * may be given to the next.
   */
  readonly idempotent?: boolean | undefined;
  /** Reaches beyond the application: network, other people. */
  readonly openWorld?: boolean | undefined;
}

/** A tool: what agents read of it, and what runs. */
export interface RelayTool {
  /** Unique among the application's tools. */
  readonly name: string;
  /** What it does and when to use it; models read it. */
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
   * Runs a call. What it returns, or resolves to, is the result: any JSON value of at most 4 MB;
   * undefined is null. What it throws is the call's error: its message goes to the agent as it is.
   * Calls run at once, not one after the other; the type of `args` may be written out, as in
   * `handler({ path }: { path: string })`.
   */
  handler(args: RelayArguments, context: RelayCallContext): unknown;
}

/** A {@link RelayTool} whose arguments have a type. */
export interface TypedRelayTool<Args extends object> extends Omit<RelayTool, 'handler'> {
  /** As {@link RelayTool.handler}. */
  handler(args: Args, context: RelayCallContext): unknown;
}

/**
 * Gives a tool's arguments a type that it cannot take in place, such as an interface:
 * `relayTool<ReadArgs>({ … })`. Nothing is checked here: `parameters` is what the relay checks.
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
export function relayTool<Args extends object>(tool: TypedRelayTool<Args>): RelayTool {
  return tool as RelayTool;
}
