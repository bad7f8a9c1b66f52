/** The state of a server, for people. */
import type { ServerEntry } from '../config/server-format.ts';
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';
import type { GatewayPorts } from './ports.ts';
import { prefixOf } from './server-connection.ts';
import { labelsBy } from './server-wishes.ts';

/** The state of a server. */
export interface ServerStatus {
  readonly name: string;
  /** Is put before each of its names. */
  readonly prefix: string;
  /**
   * `waiting`: the server failed and is tried again later. `off`: it cannot be started with its
   * present settings.
   */
  readonly state: 'starting' | 'ready' | 'waiting' | 'off';
  /** Why it is waiting or off, without values of the environment. */
  readonly error?: string;
  /** How many of its tools can be used. */
  readonly tools: number;
  /** The names of tools that differ from what was pinned. */
  readonly drift: readonly string[];
  /** Tools that cannot be used, with the reasons. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
  /** Parts of schemas that only the server checks. Absent if there are none. */
  readonly warnings?: ImportedMcpTools['warnings'];
  /**
   * Tools that are only for the server's app, by the server's own names. Absent if there are none.
   */
  readonly appOnly?: readonly string[];
  /**
   * Tools that count as destructive although they only read according to the server, by the
   * server's own names. Absent if there are none, or if labels cover them.
   */
  readonly saysReadOnly?: readonly string[];
  /** Tools that only read according to the server, by its own names. Absent if there are none. */
  readonly reads?: readonly string[];
}

/** What a status is made of. */
export interface StatusParts {
  readonly name: string;
  readonly entry: ServerEntry;
  readonly ports: Pick<GatewayPorts, 'scrub'>;
  readonly state: ServerStatus['state'];
  readonly error: string | undefined;
  readonly imported: ImportedMcpTools | undefined;
  readonly conflicts: ServerStatus['failed'];
  readonly readers: readonly string[];
}

export function statusOf({
  name,
  entry,
  ports,
  state,
  error,
  imported,
  conflicts,
  readers,
}: StatusParts): ServerStatus {
  const labels = labelsBy(entry);
  const prefix = prefixOf({ name, entry });
  const unlabelled = readers.filter(
    (tool) =>
      labels?.(tool)?.annotations?.destructive === undefined &&
      imported?.found(prefix + tool)?.annotations.destructive === true,
  );
  return {
    name,
    prefix,
    state,
    ...(error === undefined ? {} : { error }),
    tools: (imported?.tools.length ?? 0) - conflicts.length,
    drift: imported?.drift.map((one) => one.name) ?? [],
    failed: [...(imported?.failed ?? []), ...conflicts].map((one) => ({
      name: one.name,
      reason: ports.scrub(one.reason),
    })),
    ...(imported === undefined || imported.warnings.length === 0
      ? {}
      : {
          warnings: imported.warnings.map((one) => ({ ...one, message: ports.scrub(one.message) })),
        }),
    ...(imported === undefined || imported.appOnly.length === 0
      ? {}
      : { appOnly: imported.appOnly }),
    ...(unlabelled.length === 0 ? {} : { saysReadOnly: unlabelled }),
    ...(readers.length === 0 ? {} : { reads: readers }),
  };
}
