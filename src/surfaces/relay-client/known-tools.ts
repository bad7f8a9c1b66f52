/** What the relay knows about the application's tools, and the request that updates it. */
import { type JsonObject, numberIn } from './json.ts';
import { failedToolsOf, type RelayFailedTool } from './relay-client-error.ts';
import { type ToolList, toolDifference } from './tool-list.ts';

/** The tools that the relay knows, according to its answers. */
export interface KnownTools {
  /** Canonical definitions by name; undefined if the relay has no registration of ours. */
  definitions: ReadonlyMap<string, string> | undefined;
  /** Names that the relay may still have while `definitions` is undefined. */
  former: ReadonlySet<string>;
  /** The relay's own revision of the tools; undefined if it gave none. */
  revision: number | undefined;
  /** The tools that the relay refused. */
  failed: readonly RelayFailedTool[];
}

/** A request that sends the tools to the relay. */
export interface ToolsRequest {
  readonly path: '/register-tools' | '/update-tools';
  readonly body: JsonObject;
}

/** At first the relay knows no tools. */
export function createKnownTools(): KnownTools {
  return { definitions: undefined, former: new Set(), revision: undefined, failed: [] };
}

/**
 * The request that makes the relay know a list; undefined if it knows the list already.
 * @param plugin all of a registration except for the tools
 */
export function toolsRequest(
  { definitions, former }: KnownTools,
  { tools }: ToolList,
  reason: string,
  plugin: JsonObject,
): ToolsRequest | undefined {
  if (definitions !== undefined) {
    const difference = toolDifference(definitions, tools);
    if (difference === undefined) return undefined;
    return { path: '/update-tools', body: { ...difference, reason } };
  }
  const availableTools = [...tools.values()].map(({ definition }) => definition);
  if (availableTools.length > 0)
    return { path: '/register-tools', body: { ...plugin, availableTools } };
  // A relay refuses an empty registration, so the tools that it may have are removed by name.
  if (former.size > 0) return { path: '/update-tools', body: { removed: [...former], reason } };
  return undefined;
}

/** Processes the relay's answer to a {@link toolsRequest}. */
export function noteAnswer(known: KnownTools, { tools }: ToolList, answer: JsonObject): void {
  known.failed = failedToolsOf(answer);
  const refused = new Set(known.failed.map(({ toolName }) => toolName));
  const before = known.definitions;
  // A refused tool stays as the relay had it, or stays missing. The next list is compared with
  // that.
  known.definitions = new Map(
    [...tools].flatMap(([name, { canonical }]) => {
      const kept = refused.has(name) ? before?.get(name) : canonical;
      return kept === undefined ? [] : [[name, kept] as const];
    }),
  );
  known.former = new Set();
  known.revision = numberIn(answer, 'toolsRevision');
}

/** The relay may know anything now, so everything must be sent again. */
export function forgetTools(known: KnownTools): void {
  known.former = new Set([...known.former, ...(known.definitions?.keys() ?? [])]);
  known.definitions = undefined;
}
