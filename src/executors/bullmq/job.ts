/** The data of a job: everything that a worker needs to know about a call. */

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { TraceContext } from '../../core.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
} from '../../values/json/index.ts';
import type { HostMessage } from '../sandbox/messages.ts';

type RunMessage = Extract<HostMessage, { t: 'run' }>;

/** The data of a job. Dashboards for BullMQ show it. */
export interface FleetJob {
  /** The version of this format. */
  readonly format: 1;
  readonly tool: string;
  readonly input: JsonObject;
  readonly context: RunMessage['context'];
  readonly fingerprint: string;
  /** The name of the host. Its mailbox has the same name. */
  readonly host: string;
  /** Milliseconds that a worker's claim to the call lasts, unless it is renewed. */
  readonly leaseMs: number;
  readonly trace?: TraceContext | undefined;
}

/** Most characters of the data. */
export const maxJobChars = 4 * 1024 * 1024;

const limits = { maxDepth: 80, maxValues: 200_000, maxChars: maxJobChars };

/** Whether the data is larger than workers accept. */
export function isTooLarge(job: FleetJob): boolean {
  return JSON.stringify(job).length > maxJobChars;
}

/**
 * Reads the data of a job. It is not trusted, because anyone who can write to Redis can add a job.
 * Returns undefined if it is not a call.
 */
export function readJob(data: unknown): FleetJob | undefined {
  const copy = copyJson(data, limits);
  if (!copy.ok || copy.overflow || !isJsonObject(copy.value)) return undefined;
  const job = copy.value;
  const leaseMs = ownMember(job, 'leaseMs');
  if (
    ownMember(job, 'format') !== 1 ||
    !isName(ownMember(job, 'tool')) ||
    !isName(ownMember(job, 'fingerprint')) ||
    !/^[0-9a-f]{24}$/.test(String(ownMember(job, 'host'))) ||
    !(typeof leaseMs === 'number' && leaseMs >= 50 && leaseMs <= 3_600_000) ||
    !isJsonObject(ownMember(job, 'input')) ||
    !isContext(ownMember(job, 'context')) ||
    !isTrace(ownMember(job, 'trace'))
  )
    return undefined;
  return job as unknown as FleetJob;
}

function isName(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== '' && value.length <= 1_024;
}

function isContext(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  const texts = ['sessionId', 'cwd', 'callId', 'toolName', 'idempotencyKey'];
  const principal = ownMember(value, 'principal');
  return (
    texts.every((name) => typeof ownMember(value, name) === 'string') &&
    (principal === undefined || typeof principal === 'string') &&
    isJsonObject(ownMember(value, 'metadata')) &&
    isJsonObject(ownMember(value, 'environment')) &&
    ownMember(value, 'knobs') !== undefined &&
    typeof ownMember(value, 'sample') === 'boolean' &&
    typeof ownMember(value, 'elicit') === 'boolean'
  );
}

function isTrace(value: JsonValue | undefined): boolean {
  if (value === undefined) return true;
  if (!isJsonObject(value)) return false;
  const state = ownMember(value, 'tracestate');
  return (
    typeof ownMember(value, 'traceparent') === 'string' &&
    (state === undefined || typeof state === 'string')
  );
}

// Names of keys in Redis. They do not start with the prefix of BullMQ's keys, because some of its
// commands delete keys by pattern.

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
