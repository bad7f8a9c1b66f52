/** Types the arguments of a tool that an application offers. */
import { withOwnNames } from './own-names.ts';
import type { RelayTool, RelayToolInput } from './tool.ts';

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
