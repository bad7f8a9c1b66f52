/**
 * What handles the parts of a file that do not belong to a registry: its MCP servers, its audit
 * log, where its approvals are kept, and the network of a sandbox.
 */

import type { ApprovalsEntry, AuditEntry, ServerEntry } from './server-format.ts';
import type { NetworkEntry } from './value-formats.ts';

/** The servers, the audit log and the approvals of one file. */
export interface HostedParts {
  /** The absolute path of the file. */
  readonly path: string;
  /** By name, in the order of the file. */
  readonly servers: ReadonlyMap<string, ServerEntry>;
  readonly audit: AuditEntry | undefined;
  readonly approvals: ApprovalsEntry | undefined;
  readonly network: NetworkEntry | undefined;
}

/** Handles the servers, audit logs and approvals of files. */
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
  | { readonly section: 'audit'; readonly audit: AuditEntry }
  | { readonly section: 'approvals'; readonly approvals: ApprovalsEntry }
  | { readonly section: 'network'; readonly network: NetworkEntry };

/** Checks the form of such parts, and uses none of them. */
export const checksOnly: FileHost = Object.freeze({ problem: () => undefined, take: () => {} });

/** Why a part is not used if there is no host. */
export function noHost(section: HostedPart['section']): string {
  return reasons[section];
}

const reasons = {
  mcpServers:
    'only the command `host-tools` starts the servers of a file; in code, use `importMcpTools` ' +
    'of `host-tools/mcp`',
  audit:
    'only the command `host-tools` keeps the log of a file; in code, use `createAuditLog` of ' +
    '`host-tools/audit`',
  approvals:
    'only the command `host-tools serve` keeps the approvals of a file; in code, use ' +
    '`fileApprovals` of `host-tools/approvals`',
  network: 'only the command `host-tools guard` limits the network, by its sandbox',
} as const;
