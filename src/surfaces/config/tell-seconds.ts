/** Logs where a file has a `timeout` without a unit, which is read as seconds. */

import type { HostToolRegistry } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { shortened } from './issues.ts';
import { behind } from './loaded-files.ts';
import type { PreparedFile } from './prepared-file.ts';

/** Maximum places that are named. */
const maxNamed = 4;

/** Logs it once for each load. */
export function logSeconds(
  registry: HostToolRegistry<never>,
  { path, tools, servers }: PreparedFile,
): void {
  const places = [
    ...tools.flatMap((tool) =>
      'definition' in tool && isInSeconds(tool.entry.value)
        ? [`tool \`${shortened(tool.definition.name)}\``]
        : [],
    ),
    ...servers.flatMap((one) =>
      'server' in one && Object.values(one.server.labels ?? {}).some(isInSeconds)
        ? [`labels of server \`${shortened(one.name)}\``]
        : [],
    ),
  ];
  if (places.length === 0) return;
  const more = places.length > maxNamed ? ` and ${places.length - maxNamed} more` : '';
  const named = `${places.slice(0, maxNamed).join(', ')}${more}`;
  inspectRegistry(behind(registry)).warn(
    { file: path },
    `\`timeout\` without a unit is read as seconds (${named}); ` +
      'write the unit, as in `timeout: 5s`, or milliseconds, as in `timeoutMs: 5000`',
  );
}

function isInSeconds(entry: unknown): boolean {
  return (
    typeof entry === 'object' &&
    entry !== null &&
    Object.hasOwn(entry, 'timeout') &&
    typeof (entry as { timeout: unknown }).timeout === 'number'
  );
}
