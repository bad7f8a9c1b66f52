/** The tools that a worker serves, and how it runs them. */

import type { AnyTool, Executor, JsonObject, ToolContext } from '../../index.ts';
import { internalsOf } from '../../surface-port.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { schemaEngine } from '../../values/json-schema/engine.ts';
import { issueLines } from '../../values/schema/issues.ts';

/** A tool of a worker. */
export interface FleetTool {
  readonly fingerprint: string;
  /** Runs a call. The host has already validated its input. */
  run(input: JsonObject, context: ToolContext): unknown;
}

/**
 * Reads the definitions that a worker serves.
 * @throws MisuseError `invalid_option` for a definition that a worker cannot run, and for two
 * definitions with the same name
 */
export function fleetTools(where: string, tools: readonly AnyTool[]): Map<string, FleetTool> {
  const table = new Map<string, FleetTool>();
  const refuse = (what: string): MisuseError =>
    new MisuseError('invalid_option', `${where}: ${what}`);
  if (tools.length === 0)
    throw refuse('expected `tools` to have a definition, got an empty array.');
  for (const tool of tools) {
    const { name } = tool;
    if (table.has(name))
      throw refuse(`expected \`tools\` to have one definition of \`${name}\`, got two.`);
    table.set(name, fleetTool(tool, refuse));
  }
  return table;
}

/** Says why a worker cannot run calls to a tool. Undefined if it can. */
export function unservable(tool: AnyTool): string | undefined {
  const { handler, executor, create } = internalsOf(tool);
  if (executor?.kind === 'fleet')
    return 'its executor is a fleet itself; workers need the definition with the handler';
  if (handler !== undefined || executor !== undefined) return undefined;
  return create === undefined
    ? 'somebody else runs it'
    : 'it has `create`, which makes a handler for each session of one process';
}

function fleetTool(tool: AnyTool, refuse: (what: string) => MisuseError): FleetTool {
  const { name, fingerprint } = tool;
  const fault = unservable(tool);
  if (fault !== undefined)
    throw refuse(`expected definitions that a worker can run, got \`${name}\`: ${fault}.`);
  const { handler, executor, input: schema } = internalsOf(tool);
  schema.prepare(() => schemaEngine);
  const run = handler ?? (executor as Executor).execute.bind(executor);
  return {
    fingerprint,
    async run(input, context) {
      // The defaults are already in the input, since the host has filled them in.
      const { value, issues } = await schema.revalidate(input);
      if (issues !== undefined)
        throw new TypeError(`The worker refuses the arguments.\n${issueLines(issues)}`);
      return run((handler === undefined ? input : value) as never, context);
    },
  };
}
