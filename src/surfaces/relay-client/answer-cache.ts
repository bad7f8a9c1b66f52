/** Remembers ended calls, so that one that is delivered again does not run again. */
import type { Answer } from './answer.ts';

/** The last calls, with their answers as far as they fit. */
export interface AnswerCache {
  /** True for a call that is over, whether or not its answer is still kept. */
  has(requestId: string): boolean;
  /** The answer of a call, if it had one that is still kept. */
  get(requestId: string): Answer | undefined;
  /** Remembers a call. @param answer undefined if the call was cancelled or ran out of time */
  add(requestId: string, answer?: Answer): void;
  /** The number of calls that are remembered. */
  readonly size: number;
  /** Bytes of the answers that are kept. */
  readonly bytes: number;
}

/** How much is kept. */
export interface AnswerCacheLimits {
  /** Most calls. @default 1 000 */
  readonly ids?: number;
  /** Most bytes of all answers. @default 4 MB */
  readonly bytes?: number;
  /** Most bytes of one answer. Of a larger one only the id is kept. @default 256 KB */
  readonly answerBytes?: number;
}

export function createAnswerCache({
  ids = 1_000,
  bytes: maxBytes = 4 * 1_048_576,
  answerBytes = 262_144,
}: AnswerCacheLimits = {}): AnswerCache {
  // Oldest first.
  const answers = new Map<string, Answer | undefined>();
  let bytes = 0;
  const forget = (requestId: string): void => {
    bytes -= answers.get(requestId)?.bytes ?? 0;
    answers.delete(requestId);
  };
  const makeRoom = (): void => {
    for (const [requestId, answer] of answers) {
      if (bytes <= maxBytes) return;
      if (answer === undefined) continue;
      // The id keeps its place.
      answers.set(requestId, undefined);
      bytes -= answer.bytes;
    }
  };
  return {
    has: (requestId) => answers.has(requestId),
    get: (requestId) => answers.get(requestId),
    add(requestId, answer) {
      forget(requestId);
      const kept = answer !== undefined && answer.bytes <= answerBytes ? answer : undefined;
      answers.set(requestId, kept);
      bytes += kept?.bytes ?? 0;
      for (const [oldest] of answers) {
        if (answers.size <= ids) break;
        forget(oldest);
      }
      makeRoom();
    },
    get size() {
      return answers.size;
    },
    get bytes() {
      return bytes;
    },
  };
}
