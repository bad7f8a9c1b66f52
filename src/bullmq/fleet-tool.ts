/** The tools of a worker: how each is run. */
import { MisuseError } from '../errors.ts';
import type { AnyTool, JsonObject, ToolContext } from '../index.ts';
import { issueLines } from '../schema/issues.ts';
import { internalsOf } from '../surface-port.ts';

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

function fleetTool(tool: AnyTool, refuse: (what: string) => MisuseError): FleetTool {
  const { handler, executor, create, input: schema } = internalsOf(tool);
  const { name, fingerprint } = tool;
  if (executor?.kind === 'fleet')
    throw refuse(
      `expected the definition of \`${name}\` to have a handler, got one whose executor is a fleet ` +
        'itself. Give workers the definition with the handler, and the host the one with the executor.',
    );
  const run = handler ?? executor?.execute.bind(executor);
  if (run === undefined)
    throw refuse(
      `expected the definition of \`${name}\` to have a \`handler\`, got ` +
        `${create === undefined ? 'a tool that somebody else runs' : '`create`, which makes a handler for each session of one process'}.`,
    );
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
