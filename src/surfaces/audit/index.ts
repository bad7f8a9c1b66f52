/** Audit logs: one line per call, in a chain that shows edits. */
export type { AuditLog } from './audit-log.ts';
export { type AuditOptions, createAuditLog } from './create-audit-log.ts';
export type { AuditHead } from './line.ts';
export {
  type AuditCheck,
  type StoredAudit,
  type VerifyAuditOptions,
  verifyAudit,
} from './verify-audit.ts';
