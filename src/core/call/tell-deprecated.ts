/** Logs the first call to a deprecated tool. */
import type { RegistryState } from '../registry/registry-state.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { deprecationText } from '../tool/deprecation.ts';

/** Does nothing after the first call. */
export function tellDeprecated(registry: RegistryState, entry: ToolEntry): void {
  const { name, version, deprecated } = entry.definition;
  entry.untold = false;
  if (deprecated === undefined) return;
  registry.warn(
    { tool: name, ...(version === undefined ? {} : { version }), deprecated },
    `the tool \`${name}\` was called. ${deprecationText(deprecated)}`,
  );
}
