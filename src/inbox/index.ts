/** The approvals of all sessions: stores that an inbox can read. */
export { type FileApprovalsOptions, fileApprovals } from './file-approvals.ts';
export { type MemoryApprovalsOptions, memoryApprovals } from './memory-approvals.ts';
