/**
 * What handles the parts of a file that do not belong to a registry: its MCP servers, its HTTP
 * APIs, its store, its audit log, who may call its tools, where its approvals are kept, and the
 * network of a sandbox.
 */

import type { AuditEntry, ServerEntry } from './server-format.ts';
import type { SingleSection, SingleValues } from './single-sections.ts';

/** The servers and the single values of one file. */
export interface HostedParts extends Partial<SingleValues> {
  /** The absolute path of the file. */
  readonly path: string;
  /** By name, in the order of the file. */
  readonly servers: ReadonlyMap<string, ServerEntry>;
}

/** Handles the servers and the single values of files. */
export interface FileHost {
  /**
   * Waits a while for what another process still has. Called before the parts of a file that was
   * not loaded before are checked. Must not reject.
   */
  ready?(path: string, audit: AuditEntry): Promise<void>;
  /**
   * Why a part cannot be used, as a reason; undefined if it can.
   * @param again whether the part came by an edit of a file that was loaded before
   */
  problem(path: string, part: HostedPart, again: boolean): string | undefined;
  /** Replaces the parts that a file had before. Must not throw. */
  take(parts: HostedParts): void;
}

/** One part, for a check. */
export type HostedPart =
  | { readonly section: 'mcpServers'; readonly name: string; readonly server: ServerEntry }
  | {
      [S in SingleSection]: { readonly section: S; readonly value: SingleValues[S] };
    }[SingleSection];

/** Checks the form of such parts, and uses none of them. */
export const checksOnly: FileHost = Object.freeze({ problem: () => undefined, take: () => {} });

/** Why a part is not used if there is no host; undefined if it is. */
export function noHost(section: HostedPart['section']): string | undefined {
  return reasons[section];
}

const reasons = {
  mcpServers:
    'only the command `host-tools` starts the servers of a file; in code, use `importMcpTools` ' +
    'of `host-tools/mcp`',
  store:
    'only the command `host-tools` opens the store of a file; in code, give it to the registry: ' +
    '`new HostToolRegistry({ store })`',
  // The registry itself has it.
  code: undefined,
  credentials: undefined,
  openapi:
    'only the command `host-tools` imports the APIs of a file; in code, use `importOpenApi` of ' +
    '`host-tools/openapi`',
  audit:
    'only the command `host-tools` keeps the log of a file; in code, use `createAuditLog` of ' +
    '`host-tools/audit`',
  authorization:
    'only the command `host-tools serve --http` has clients with tokens; in code, use ' +
    '`createMcpHandler({ authorization })` of `host-tools/mcp`',
  approvals:
    'only the command `host-tools serve` keeps the approvals of a file; in code, use ' +
    '`fileApprovals` of `host-tools/approvals`',
  network: 'only the command `host-tools guard` limits the network, by its sandbox',
} as const satisfies Record<HostedPart['section'], string | undefined>;
