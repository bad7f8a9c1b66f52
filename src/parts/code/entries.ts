/** What a journal keeps of the requests of a program. */

import type { PendingApproval } from '../../api/approval.ts';
import type { CodeAnswer, CodeRequest } from '../../api/code.ts';
import type { Store } from '../../api/store.ts';
import type { BoundedStore } from '../../stores/shared/use-store.ts';
import { sha256 } from '../../values/crypto.ts';
import { toolError } from '../../values/errors/index.ts';
import { errorAnswer } from './answers.ts';

/** What is kept of one request. */
export interface Entry {
  readonly kind: CodeRequest['kind'];
  readonly name: string;
  /** The digest of the canonical input. */
  readonly input: string;
  /** Of the tool's definition; empty if there is no tool. */
  readonly fingerprint: string;
  /** `answered`: a person has answered, and the program does not know it yet. */
  readonly state: 'started' | 'asked' | 'answered' | 'ended';
  readonly approvalId?: string;
  readonly callId?: string;
  /** Epoch milliseconds: when its question expires. */
  readonly expiresAt?: number;
  /** Its place among those that have ended. */
  readonly order?: number;
  readonly answer?: CodeAnswer;
  readonly version: number;
}

const page = 1_000;
/** The list of all entries of a program. */
const list = 'calls';

/** Keeps an entry under its position. @param version of the one before; 0 if there is none */
export function setEntry(
  position: number,
  entry: Omit<Entry, 'version'>,
  version: number,
  expiresAt: number,
): Store.Set {
  const value = JSON.stringify({ ...entry, position });
  return { op: 'set', key: keyOf(position), value, version, expiresAt, lists: [list] };
}

export async function readEntry(
  store: BoundedStore,
  space: Store.Space,
  position: number,
): Promise<Entry | undefined> {
  const { results } = await store.apply(space, [{ op: 'get', keys: [keyOf(position)] }]);
  const document = results?.[0][0];
  return document && read(document)[1];
}

/** All entries of a program, by their positions. */
export async function readEntries(
  store: BoundedStore,
  space: Store.Space,
): Promise<ReadonlyMap<number, Entry>> {
  const entries = new Map<number, Entry>();
  let after: { readonly expiresAt: number | null; readonly key: string } | undefined;
  for (;;) {
    const { results } = await store.apply(space, [
      { op: 'list', list, limit: page, ...(after === undefined ? {} : { after }) },
    ]);
    const documents = results?.[0] ?? [];
    for (const document of documents) entries.set(...read(document));
    const last = documents.at(-1);
    if (last === undefined || documents.length < page) return entries;
    after = { expiresAt: last.expiresAt, key: last.key };
  }
}

function read({ value, version }: Store.Document): [position: number, entry: Entry] {
  const { position, ...entry } = JSON.parse(value) as Entry & { readonly position: number };
  return [position, { ...entry, version }];
}

function keyOf(position: number): string {
  return `call ${position}`;
}

/** What is known about a request. */
export type Known =
  | { readonly answer: CodeAnswer; readonly waits?: undefined }
  /** It waits for a person, or was answered and runs elsewhere. */
  | { readonly waits: PendingApproval | 'running'; readonly answer?: undefined };

export const lostAnswer: CodeAnswer = errorAnswer(
  toolError(
    'executor_lost',
    'The process that ran this call went away, and it is not known what the call did. It was not ' +
      'run again. Find that out before you repeat it.',
    { reason: 'code_lost', retryable: false },
  ),
);

/**
 * The digest of what a program asked for. The same program writes the same text, and to put the
 * members of a large one in order would hold up the host.
 */
export function requestDigest({ input }: CodeRequest): string {
  return sha256(input);
}
