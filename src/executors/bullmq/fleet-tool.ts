/** The tools that a worker serves, and how it runs them. */
import type { AnyTool, JsonObject, Part, ToolContext, TraceContext } from '../../core.ts';
import { inspectTool, type ToolView } from '../../extend.ts';
import { MisuseError } from '../../values/errors/index.ts';

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
export async function fleetTools(
  where: string,
  tools: readonly AnyTool[],
): Promise<Map<string, FleetTool>> {
  const table = new Map<string, FleetTool>();
  const refuse = (what: string): MisuseError =>
    new MisuseError('invalid_option', `${where}: ${what}`);
  if (tools.length === 0)
    throw refuse('expected `tools` to have a definition, got an empty array.');
  const given = [...tools];
  // Only workers need what runs plain schemas, and hosts import this entry, too.
  const { jsonSchemas } = await import('../../parts/json-schema/part.ts');
  for (const tool of given) {
    const { name } = tool;
    if (table.has(name))
      throw refuse(`expected \`tools\` to have one definition of \`${name}\`, got two.`);
    table.set(name, fleetTool(tool, [jsonSchemas()], refuse));
  }
  return table;
}

/** Says why a worker cannot run calls to a tool. Undefined if it can. */
export function unservable(tool: AnyTool): string | undefined {
  return faultOf(inspectTool(tool));
}

function faultOf({ runsIn, isCreated }: ToolView): string | undefined {
  if (runsIn === 'fleet')
    return 'its executor is a fleet itself; workers need the definition with the handler';
  if (isCreated) return 'it has `create`, which makes a handler for each session of one process';
  return runsIn === 'external' ? 'somebody else runs it' : undefined;
}

function fleetTool(
  tool: AnyTool,
  parts: readonly Part[],
  refuse: (what: string) => MisuseError,
): FleetTool {
  const view = inspectTool(tool);
  const { name, fingerprint } = tool;
  const fault = faultOf(view);
  const run = view.runner(parts);
  if (fault !== undefined || run === undefined)
    throw refuse(`expected definitions that a worker can run, got \`${name}\`: ${fault}.`);
  return { fingerprint, run };
}

// The call that a worker passes to its `around`.

/** A call that a worker runs. */
export interface FleetCall {
  /** The name of the tool in the host. */
  readonly toolName: string;
  /** The id of the call in its session. */
  readonly callId: string;
  /** The id of the host's session. */
  readonly sessionId: string;
  /** The principal that the session acts for. */
  readonly principal?: string | undefined;
  /** The trace that the call belongs to. Present if the host traces its calls. */
  readonly traceContext?: TraceContext | undefined;
}

/** Runs around each handler of a worker; see `ServeFleetOptions`. */
export type Around = (call: FleetCall, run: () => Promise<unknown>) => Promise<unknown>;
