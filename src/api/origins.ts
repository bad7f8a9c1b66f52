/**
 * The terms for origins: where a value came from, what an argument is for, and where it was seen.
 */

import type { JsonPrimitive } from '../values/json/index.ts';

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

/** The origin of one argument, without its value, as events and records contain it. */
export interface OriginTold extends Pick<FoundOrigin, 'origin' | 'seen' | 'approvedBy'> {
  /** Its path in the input, joined by dots: `to`, `participants.0`. */
  readonly path: string;
}

/** Which containers make a value known. */
export interface KnownContainers {
  /**
   * A local path counts as known if a folder that contains it is known: the user or trusted text
   * named the folder. Weakens the judgement: the model may then choose any file in it. @default
   * false
   */
  readonly paths?: boolean | undefined;
  /**
   * A URL counts as known if the user named its host, or a person approved a URL on it. Weakens the
   * judgement: text that the model has read may then choose the page, and what data its query sends
   * out. @default false
   */
  readonly hosts?: boolean | undefined;
}

/** How much text is remembered, for rules about origins. */
export interface OriginOptions {
  /**
   * The most characters of text that one session remembers. Further text is not remembered, so
   * values from it are `unknown`. From 1.
   * @default 8_388_608
   */
  readonly maxChars?: number | undefined;
}

/** Options of `session.said`. */
export interface SaidOptions {
  /**
   * Who vouches for the text: the user who wrote it, or the host, for what it knows itself, such as
   * a system prompt, its folders or the account's own numbers.
   * @default "user"
   */
  readonly origin?: 'user' | 'trusted' | undefined;
}
