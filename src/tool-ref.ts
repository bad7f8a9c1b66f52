/** How a tool is named together with its types. */

declare const toolTypes: unique symbol;

/** Anything that names a tool and carries its types. */
export interface ToolRef<I = unknown, O = unknown> {
  /** The tool's registered name. */
  readonly name: string;
  readonly [toolTypes]?: { readonly input: I; readonly output: O };
}
