/** Standing answers of one session. A grant answers an ask; it never beats a deny. */
import type { Grant, ReadAnswer } from './request.ts';

interface Held {
  readonly id: string;
  readonly tool: string;
  readonly effect: 'allow' | 'reject';
  readonly by: string | undefined;
  /** Fingerprint and source; with the digest of the input where the grant is for that input alone. */
  readonly key: string;
  usesLeft: number | undefined;
  readonly expiresAt: number | undefined;
  /** Taken back, or replaced by another answer to the same question. */
  revoked: boolean;
}

/** What a call that a grant let through must still look at. */
export interface Standing {
  /** Taken back, or replaced by another answer to the same question. */
  readonly revoked: boolean;
  /** Epoch milliseconds; undefined where it does not end by itself. */
  readonly expiresAt: number | undefined;
}

/** What a grant is for: a definition from a source, with one input or any. */
export interface GrantSubject {
  readonly tool: string;
  readonly fingerprint: string;
  readonly source: string;
  /** Digest of the canonical input. */
  readonly input: string;
}

/** At most so many grants a session; the oldest goes first. */
const mostGrants = 1_000;

export class Grants {
  readonly #held = new Map<string, Held>();

  /** Remembers an answer that was given for always. */
  add(id: string, subject: GrantSubject, answer: ReadAnswer, now: number): void {
    const { grant, allowed, by } = answer;
    if (grant === undefined) return;
    const key = keyOf(subject, grant.match);
    for (const [other, held] of this.#held) if (held.key === key) this.revoke(other);
    if (this.#held.size >= mostGrants) this.#held.delete(this.#held.keys().next().value as string);
    const expiresAt = grant.expiresInMs === undefined ? undefined : now + grant.expiresInMs;
    this.#held.set(id, { id, tool: subject.tool, effect: allowed ? 'allow' : 'reject', by, key, usesLeft: grant.uses, expiresAt, revoked: false });
  }

  /** The grant that would answer an ask, a rejection before an allowance; nothing is used up. */
  find(subject: GrantSubject, now: number): Grant | undefined {
    this.#expire(now);
    const keys = [keyOf(subject, 'input'), keyOf(subject, 'tool')];
    let found: Held | undefined;
    for (const held of this.#held.values()) {
      if (!keys.includes(held.key)) continue;
      if (found === undefined || (found.effect === 'allow' && held.effect === 'reject')) found = held;
    }
    return found && publicView(found);
  }

  /** Uses a grant up by one. What comes back says later on whether it was revoked. Undefined when it is gone. */
  use(id: string): Standing | undefined {
    const held = this.#held.get(id);
    if (held?.usesLeft !== undefined && --held.usesLeft <= 0) this.#held.delete(id);
    return held;
  }

  list(now: number): readonly Grant[] {
    this.#expire(now);
    return [...this.#held.values()].map(publicView);
  }

  /** Takes an answer back, also from a call that it let through and whose handler has not started. False when it is gone. */
  revoke(id: string): boolean {
    const held = this.#held.get(id);
    if (held !== undefined) held.revoked = true;
    return this.#held.delete(id);
  }

  #expire(now: number): void {
    for (const [id, held] of this.#held) if (held.expiresAt !== undefined && held.expiresAt <= now) this.#held.delete(id);
  }
}

function keyOf({ fingerprint, source, input }: GrantSubject, match: 'input' | 'tool'): string {
  return JSON.stringify(match === 'input' ? [fingerprint, source, input] : [fingerprint, source]);
}

function publicView({ id, tool, effect, by, usesLeft, expiresAt }: Held): Grant {
  return Object.freeze({
    id,
    tool,
    effect,
    ...(by === undefined ? {} : { by }),
    ...(usesLeft === undefined ? {} : { usesLeft }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}
