/** Names in Redis. They are not below those of BullMQ, some of whose commands delete by pattern. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** What all keys of a queue start with. A hash tag in the prefix keeps them in one slot. */
export function rootOf(prefix: string, queue: string): string {
  return `${prefix}-host-tools:${queue}:`;
}

export function recordOf(root: string, call: string): string {
  return `${root}call:${call}`;
}

export function hostBoxOf(root: string, host: string): string {
  return `${root}host:${host}`;
}

export function workerBoxOf(root: string, worker: string): string {
  return `${root}worker:${worker}`;
}

/** The name of a host or a worker that nobody can guess. It has no dot. */
export function newName(): string {
  return randomBytes(12).toString('hex');
}

/**
 * The id of a job. BullMQ refuses integers and colons, and answers a repeated id with the first job,
 * so each one is new.
 */
export function newJobId(idempotencyKey: string): string {
  const hash = createHash('sha256').update(randomUUID()).update(idempotencyKey).digest('hex');
  return `call-${hash.slice(0, 32)}`;
}

/** The worker in a claim, which is its name, a dot and a number. */
export function workerIn(claim: string): string {
  return claim.slice(0, claim.indexOf('.'));
}
