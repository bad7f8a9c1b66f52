/** The tools of a worker: how each is run. */
import { MisuseError } from '../../errors/index.ts';
import type { AnyTool, Executor, JsonObject, ToolContext } from '../../index.ts';
import { issueLines } from '../../schema/issues.ts';
import { internalsOf } from '../../surface-port.ts';

/** A tool as a worker has it. */
export interface FleetTool {
  readonly fingerprint: string;
  /** Runs a call, whose input was accepted by the host. */
  run(input: JsonObject, context: ToolContext): unknown;
}

/**
 * Reads the definitions that a worker serves.
 * @throws MisuseError `invalid_option` for one that a worker cannot run, or two of one name
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

/** Why a worker cannot run the calls of a tool; undefined if it can. */
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
  const run = handler ?? (executor as Executor).execute.bind(executor);
  return {
    fingerprint,
    async run(input, context) {
      // The host has filled in the defaults.
      const { value, issues } = await schema.revalidate(input);
      if (issues !== undefined)
        throw new TypeError(`The worker refuses the arguments.\n${issueLines(issues)}`);
      return run((handler === undefined ? input : value) as never, context);
    },
  };
}
