/** Logs the first call to a deprecated tool. */
import { deprecationText } from '../tool/deprecation.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';

/** Does nothing after the first call. */
export function tellDeprecated(
  registry: { warn(data: object, message: string): void },
  entry: ToolEntry,
): void {
  const { name, version, deprecated } = entry.definition;
  entry.untold = false;
  if (deprecated === undefined) return;
  registry.warn(
    { tool: name, ...(version === undefined ? {} : { version }), deprecated },
    `the tool \`${name}\` was called. ${deprecationText(deprecated)}`,
  );
}
