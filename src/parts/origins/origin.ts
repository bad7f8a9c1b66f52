/**
 * The terms for origins: where a value came from, what an argument is for, and where it was seen.
 */
import type { JsonPrimitive } from '../../values/json/index.ts';

/**
 * Where a value came from. `user`: the user wrote it, or a person approved exactly this value in
 * this session. `trusted`: it occurred in trusted output, or the schema fixes it. `untrusted`: it
 * occurred in untrusted output. `unknown`: it occurred nowhere, so the model composed it.
 */
export type Origin = 'user' | 'trusted' | 'untrusted' | 'unknown';

/** A host's label for the text of a tool's output, or of one field of it. */
export type OutputOrigin = 'trusted' | 'untrusted';

/**
 * What an argument is for. `target`: the person or thing that the call acts upon; the whole value
 * is judged. `content`: free text; only the identifiers in it are judged. `free`: not judged.
 */
export type Role = 'target' | 'content' | 'free';

/** A place where a value was seen. */
export interface SeenAt {
  /** The id of the call whose output it was. */
  readonly callId: string;
  /** The tool of that call. */
  readonly toolName: string;
  /** The path in the output, joined by dots. Absent if the output is a text. */
  readonly path?: string;
}

/** What is known about one value. */
export interface FoundOrigin {
  /** Where the value came from. */
  readonly origin: Origin;
  /** Where it was first seen in an output. */
  readonly seen?: SeenAt;
  /** Who approved this value, if its origin is `user` for that reason. */
  readonly approvedBy?: string;
  /** The known folder or host that contains it (the options `paths` and `hosts`). */
  readonly within?: string;
}

/** One argument, or one identifier in a text, with its origin. */
export interface JudgedOrigin extends FoundOrigin {
  /** Its path in the input, joined by dots: `to`, `participants.0`. */
  readonly path: string;
  /** The argument, or the identifier as it appears in the text. */
  readonly value: JsonPrimitive;
  /** `content` for an identifier that was found in a text. */
  readonly role: 'target' | 'content';
}

/** The value of an argument that cannot be read. */
export const unreadValue = '…';

/** The origin of one argument, without its value, as events and records contain it. */
export interface OriginTold extends Pick<FoundOrigin, 'origin' | 'seen' | 'approvedBy'> {
  /** Its path in the input, joined by dots: `to`, `participants.0`. */
  readonly path: string;
}
