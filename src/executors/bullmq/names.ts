/**
 * Names of keys in Redis. They do not start with the prefix of BullMQ's keys, because some of its
 * commands delete keys by pattern.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** The start of all keys of a queue. A hash tag in the prefix keeps them in one cluster slot. */
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

/** Makes an unguessable name for a host or a worker. It contains no dot. */
export function newName(): string {
  return randomBytes(12).toString('hex');
}

/**
 * Makes the id of a job. Each id is unique, because BullMQ returns the existing job when an id is
 * repeated. It starts with a word and has no colon, because BullMQ refuses integers and colons.
 */
export function newJobId(idempotencyKey: string): string {
  const hash = createHash('sha256').update(randomUUID()).update(idempotencyKey).digest('hex');
  return `call-${hash.slice(0, 32)}`;
}

/** The name of the worker that made a claim. A claim is that name, a dot and a number. */
export function workerIn(claim: string): string {
  return claim.slice(0, claim.indexOf('.'));
}
