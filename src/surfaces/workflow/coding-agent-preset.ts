/**
 * The tools of a coding agent: an inventory with three profiles, for hosts that bring the handlers.
 */

import { checkNames } from '../../core/toolset/effective.ts';
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import type { InputOf, ParsedOf } from '../../values/schema/schema.ts';
import { type Inventory, inventory } from './coding-agent-inventory.ts';

/** The name of a tool of the preset. */
export type CodingAgentToolName = keyof Inventory;

/** One tool of the preset. `defineTool({ ...tool, handler })` turns it into a definition. */
export interface CodingAgentTool<Name extends CodingAgentToolName = CodingAgentToolName>
  extends ToolSpec {
  /** The stable name, which profiles use. */
  readonly name: Name;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /**
   * The JSON Schema of the input. Members that it does not name are refused. Paths are relative to
   * the root of the host session.
   */
  readonly parameters: Inventory[Name]['parameters'];
}

/** The input that a caller sends to a tool of the preset. */
export type CodingAgentInput<Name extends CodingAgentToolName> = InputOf<
  Inventory[Name]['parameters']
>;

/** The input that the handler of a tool of the preset gets, with defaults filled in. */
export type CodingAgentParsed<Name extends CodingAgentToolName> = ParsedOf<
  Inventory[Name]['parameters']
>;

/** The result of {@link codingAgentPreset}. */
export interface CodingAgentPreset {
  /**
   * The inventory, in this order: session.open, exec, read_file, write_file, edit_file,
   * apply_patch, grep, glob, stat, exists, list_dir.
   */
  tools: CodingAgentTool[];
  /**
   * Names in the order of `tools`. `openai` edits with `host.fs.apply_patch`, `anthropic` and
   * `gemini` with `host.fs.edit_file`; all other tools are the same.
   */
  profiles: Record<'openai' | 'anthropic' | 'gemini', string[]>;
  /** The selected profile. */
  profile: 'openai';
}

/**
 * Eleven tools of a coding agent, and which of them suit the models of each provider. All but
 * `host.session.open` require the fact `hostSession.status` to be `ready`. Reads run in parallel
 * with each other and with one write. Writes share a resource key, so that no two overlap.
 * `host.exec` and `host.session.open` run alone. The result is plain data, new at each call, and
 * may be changed.
 * @example
 * ```ts
 * import { codingAgentPreset, createWorkflow } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow(codingAgentPreset());
 * ```
 */
export function codingAgentPreset(): CodingAgentPreset {
  const tools = Object.values(inventory());
  const without = (name: CodingAgentToolName): string[] =>
    tools.map((tool) => tool.name).filter((one) => one !== name);
  return {
    tools,
    profiles: {
      openai: without('host.fs.edit_file'),
      anthropic: without('host.fs.apply_patch'),
      gemini: without('host.fs.apply_patch'),
    },
    profile: 'openai',
  };
}

/**
 * One tool of the preset with the types of its input, so that the compiler checks its handler.
 * @example
 * ```ts
 * import { defineTool } from 'host-tools';
 * import { codingAgentTool } from 'host-tools/workflow';
 * import { readFile } from 'node:fs/promises';
 *
 * const read = defineTool({
 *   ...codingAgentTool('host.fs.read_file'),
 *   handler: ({ path }) => readFile(path, 'utf8'),
 * });
 * ```
 * @throws MisuseError `unknown_tool`
 */
export function codingAgentTool<Name extends CodingAgentToolName>(
  name: Name,
): CodingAgentTool<Name> {
  const tools = inventory();
  checkNames([String(name)], new Map(Object.entries(tools)), 'name');
  return tools[name] as CodingAgentTool<Name>;
}
