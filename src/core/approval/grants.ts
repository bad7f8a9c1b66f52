/**
 * The standing answers of one session, and the calls that wait for a person here. A grant answers
 * an ask; it never lifts a denial.
 */

import type { ApprovalRequest, Grant } from '../../api/approval.ts';
import { sha256 } from '../../values/crypto.ts';
import { canonicalJson, type JsonObject } from '../../values/json/index.ts';
import type { ReadAnswer } from './request.ts';

/** A grant as it is stored. */
export interface Held {
  readonly id: string;
  readonly tool: string;
  readonly effect: 'allow' | 'reject';
  readonly by: string | undefined;
  /** Fingerprint and source, and the digest of the input if the grant is for that input only. */
  readonly key: string;
  usesLeft: number | undefined;
  readonly expiresAt: number | undefined;
  /** It was revoked, or replaced by another answer to the same question. */
  revoked: boolean;
}

/** A use of a grant, by a call whose handler has not started yet. */
export interface Standing {
  readonly held: Held;
  /** The grant came with the answer to this call, which therefore uses up nothing. */
  readonly isOwn: boolean;
  readonly subject: GrantSubject;
  /** How many rejections the session had received by then. */
  readonly rejections: number;
}

/** What a grant covers: a definition from a source, with one input or any. */
export interface GrantSubject {
  readonly tool: string;
  readonly fingerprint: string;
  readonly source: string;
  /** Digest of the canonical input. */
  readonly input: string;
}

/** Most grants per session. The oldest is dropped first. */
const maxGrants = 1_000;

export class Grants {
  readonly #held = new Map<string, Held>();
  /**
   * Grants that a call has used up while its handler has not started. Until then they can be
   * revoked.
   */
  readonly #lastUses = new Map<string, Held>();
  #rejections = 0;

  /** Adds the grant of an `_always` answer. Returns its use by the call that was answered. */
  add(id: string, subject: GrantSubject, answer: ReadAnswer, now: number): Standing | undefined {
    const { grant, allowed, by } = answer;
    if (grant === undefined) return undefined;
    const key = keyOf(subject, grant.match);
    for (const [other, held] of [...this.#held, ...this.#lastUses])
      if (held.key === key) this.revoke(other);
    if (!allowed) this.#rejections++;
    if (this.#held.size >= maxGrants) this.#held.delete(this.#held.keys().next().value as string);
    const expiresAt = grant.expiresInMs === undefined ? undefined : now + grant.expiresInMs;
    const held: Held = {
      id,
      tool: subject.tool,
      effect: allowed ? 'allow' : 'reject',
      by,
      key,
      usesLeft: grant.uses,
      expiresAt,
      revoked: false,
    };
    this.#held.set(id, held);
    return { held, isOwn: true, subject, rejections: this.#rejections };
  }

  /** The grant that would answer an ask. Rejections come first. Nothing is used up. */
  find(subject: GrantSubject, now: number): Grant | undefined {
    this.#expire(now);
    const keys = [keyOf(subject, 'input'), keyOf(subject, 'tool')];
    let found: Held | undefined;
    for (const held of this.#held.values()) {
      if (!keys.includes(held.key)) continue;
      if (found === undefined || (found.effect === 'allow' && held.effect === 'reject'))
        found = held;
    }
    return found && publicView(found);
  }

  /** Uses a grant once. Undefined if there is no such grant. */
  use(id: string, subject: GrantSubject): Standing | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return undefined;
    if (held.usesLeft !== undefined && --held.usesLeft <= 0) {
      this.#held.delete(id);
      if (held.effect === 'allow') this.#lastUses.set(id, held);
    }
    return { held, isOwn: false, subject, rejections: this.#rejections };
  }

  /**
   * Whether a call that a grant has allowed may still start: the grant was not revoked or replaced
   * and has not expired, and no later rejection covers the call. The answer to the call itself does
   * not expire.
   */
  holds({ held, isOwn, subject, rejections }: Standing, now: number): boolean {
    if (held.revoked) return false;
    if (!isOwn && held.expiresAt !== undefined && held.expiresAt <= now) return false;
    return rejections === this.#rejections || this.find(subject, now)?.effect !== 'reject';
  }

  /** Ends a use, because the handler has started or never will. */
  release({ held, isOwn }: Standing): void {
    if (!isOwn) this.#lastUses.delete(held.id);
  }

  list(now: number): readonly Grant[] {
    this.#expire(now);
    return [...this.#held.values()].map(publicView);
  }

  /** Revokes a grant, including for calls that it has allowed whose handlers have not started. */
  revoke(id: string): boolean {
    const held = this.#held.get(id) ?? this.#lastUses.get(id);
    if (held === undefined) return false;
    held.revoked = true;
    return this.#held.delete(id) || this.#lastUses.delete(id);
  }

  #expire(now: number): void {
    for (const [id, held] of this.#held)
      if (held.expiresAt !== undefined && held.expiresAt <= now) this.#held.delete(id);
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

/** A digest of canonical JSON. */
export function jsonDigest(value: JsonObject): string {
  return sha256(canonicalJson(value), 'base64url');
}

interface Waiting {
  readonly request: ApprovalRequest;
  answer(answer: ReadAnswer): void;
  /** Adds a listener for the end of the call, which gets the call's result. */
  onEnd(listener: (result: unknown) => void): void;
}

export class ApprovalDesk {
  readonly grants = new Grants();
  readonly waiting = new Map<string, Waiting>();

  /** Answers a call that waits in this process. The first answer wins. False if none waits. */
  answer(id: string, answer: ReadAnswer): boolean {
    const waiting = this.waiting.get(id);
    if (waiting === undefined) return false;
    this.waiting.delete(id);
    waiting.answer(answer);
    return true;
  }
}
