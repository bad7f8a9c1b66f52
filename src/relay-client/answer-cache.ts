/** The calls that are over, so that one that is delivered again does not run again. */
import type { Answer } from './answer.ts';

/** Remembers the last calls, and the answers of those as far as there is room. */
export interface AnswerCache {
  /** True for a call that is over, whether or not its answer is still known. */
  has(requestId: string): boolean;
  /** Its answer, if there was one and it is still known. */
  get(requestId: string): Answer | undefined;
  /** Remembers a call. @param answer none for one that was cancelled or ran out of time */
  add(requestId: string, answer?: Answer): void;
  /** Ids that are remembered. */
  readonly size: number;
  /** Bytes of the answers that are remembered. */
  readonly bytes: number;
}

/** How much is remembered. */
export interface AnswerCacheLimits {
  /** Calls. @default 1 000 */
  readonly ids?: number;
  /** Of all answers. @default 4 MB */
  readonly bytes?: number;
  /** Of one answer: a larger one is forgotten, its id is not. @default 256 KB */
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
      // Its place among the ids stays.
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
