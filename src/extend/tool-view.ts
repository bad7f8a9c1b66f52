/** A tool as surfaces and executors see it. */

import type { ToolUi } from '../api/tool-fields.ts';
import { RegistryParts } from '../core/registry/define-part.ts';
import { internalsOf, type OutsideOrigin } from '../core/tool/definition.ts';
import { shownDescription } from '../core/tool/deprecation.ts';
import type { AnyTool, Executor, JsonObject, Part, ToolContext } from '../core.ts';
import { cloneJson, copyJson } from '../values/json/index.ts';
import { issueLines } from '../values/schema/issues.ts';

/** Runs the code of a tool with an input and a context. */
export type RunTool = (input: JsonObject, context: ToolContext) => unknown;

/** What is behind a definition. */
export interface ToolView {
  /** The definition itself. */
  readonly definition: AnyTool;
  /** The description that a model is shown, which says whether the tool is deprecated. */
  readonly description: string;
  /** `inline`, the name that its executor gives, or `external` if other code runs the tool. */
  readonly runsIn: string;
  /** See {@link OutsideOrigin.said}. Of a tool of the host, the metadata of its app. */
  readonly said: JsonObject | undefined;
  /** Its app (MCP Apps). */
  readonly ui: ToolUi | undefined;
  /** Whether its handler is a generator function, so that it yields before it returns. */
  readonly yields: boolean;
  /** Whether it has `create`, which makes a handler for each session. */
  readonly isCreated: boolean;
  /**
   * The input with the defaults of the tool's plain JSON Schema, as a session would have it. The
   * input itself if the tool has a schema of another kind, or if it is invalid.
   */
  withDefaults(input: unknown): unknown;
  /**
   * What runs the tool's handler or executor without a gate. It is for workers, whose calls were
   * judged and validated elsewhere; the input is validated once more. Undefined if nothing runs the
   * tool here.
   * @param parts Such as `jsonSchemas()`, for a tool with a plain JSON Schema.
   * @throws MisuseError `missing_part`
   */
  runner(parts: readonly Part[]): RunTool | undefined;
}

/**
 * Looks behind a definition.
 * @throws MisuseError `foreign_definition`, `invalid_definition` for anything but a definition.
 *
 * @example
 * ```ts
 * import { inspectTool } from 'host-tools/extend';
 *
 * const { description, runsIn, yields } = inspectTool(add);
 * ```
 */
export function inspectTool(tool: unknown): ToolView {
  return new Inspected(tool);
}

class Inspected implements ToolView {
  readonly definition: AnyTool;
  readonly #own: ReturnType<typeof internalsOf>;

  constructor(tool: unknown) {
    this.#own = internalsOf(tool);
    this.definition = this.#own.definition;
  }

  get description(): string {
    return shownDescription(this.definition);
  }

  get runsIn(): string {
    return this.#own.runsIn;
  }

  get said(): JsonObject | undefined {
    return this.#own.outside?.said ?? this.#own.ui?.said;
  }

  get ui(): ToolUi | undefined {
    return this.#own.ui;
  }

  get yields(): boolean {
    const { handler } = this.#own;
    return (
      typeof handler === 'function' &&
      /^\[object (?:Async)?GeneratorFunction\]$/.test(Object.prototype.toString.call(handler))
    );
  }

  get isCreated(): boolean {
    return this.#own.create !== undefined;
  }

  withDefaults(input: unknown): unknown {
    const schema = this.#own.input;
    const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000 });
    if (schema.kind !== 'json' || !copy.ok) return input;
    const validated = schema.validate(cloneJson(copy.value));
    return validated instanceof Promise || validated.issues !== undefined ? input : validated.value;
  }

  runner(parts: readonly Part[]): RunTool | undefined {
    const { handler, executor, input: schema } = this.#own;
    const run = handler ?? executor?.execute.bind(executor as Executor);
    if (run === undefined) return undefined;
    const set = new RegistryParts(parts);
    schema.prepare((what) => set.find('schemas', schema.kind, what));
    return async (input, context) => {
      // The defaults are already in the input, since the host has filled them in.
      const { value, issues } = await schema.revalidate(input);
      if (issues !== undefined)
        throw new TypeError(`The worker refuses the arguments.\n${issueLines(issues)}`);
      return run((handler === undefined ? input : value) as never, context);
    };
  }
}
