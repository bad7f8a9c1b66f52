/**
 * Which values are content. What reads, marks and cuts parts is beside `content`, which parts bring
 * along, so that a bundle without `content` leaves it out.
 */
import type { JsonValue } from './json/value.ts';

/**
 * The form of a content part. A part of a tool that is imported over MCP may have further members
 * of the protocol: see `notesOf`.
 */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource';
      readonly resource: {
        readonly uri: string;
        readonly mimeType?: string;
        readonly text?: string;
        readonly blob?: string;
      };
    }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name?: string;
      readonly mimeType?: string;
    };

/** What a call does with content parts. */
export interface ContentWays {
  /** Whether a handler's value is content. */
  isContent(value: unknown): boolean;
  /** A snapshot of content as its parts; undefined if it has not their form. */
  partsOf(snapshot: JsonValue): readonly ContentPart[] | undefined;
  /** How many characters of a budget parts take. */
  charsOf(parts: readonly ContentPart[]): number;
  /**
   * Fits parts into a budget. Those that are cut lose their notes.
   * @param mark Stands for what is left out.
   * @param cut A text, cut to a length, with the mark.
   */
  fit(
    parts: readonly ContentPart[],
    limit: number,
    mark: string,
    cut: (text: string, limit: number) => string,
  ): readonly ContentPart[];
}

/** The brand of a part, also of other installed copies. Its value has the {@link ContentWays}. */
export const partBrand = Symbol.for('host-tools.content');

/**
 * Outputs that were made from content parts. A JSON value that only looks like parts is not in
 * here, so it cannot pass for content.
 */
export const contentOutputs = new WeakMap<object, ContentWays>();

/** Returns the parts of an output, or undefined if the output is plain JSON. */
export function contentParts(output: unknown): readonly ContentPart[] | undefined {
  return typeof output === 'object' && output !== null && contentOutputs.has(output)
    ? (output as readonly ContentPart[])
    : undefined;
}

/**
 * What the parts of a handler's value bring along; undefined for a value that is no content. May
 * throw if reading the value does.
 */
export function contentWays(value: object): ContentWays | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  const ways =
    contentOutputs.get(value) ??
    (typeof first === 'object' && first !== null
      ? (first as { readonly [partBrand]?: ContentWays })[partBrand]
      : undefined);
  return ways?.isContent?.(value) === true ? ways : undefined;
}

/** Marks an output as content. Nothing is marked if either is absent. */
export function markAs<T>(output: T, ways: ContentWays | undefined): T {
  if (ways !== undefined && output !== undefined) contentOutputs.set(output as object, ways);
  return output;
}
