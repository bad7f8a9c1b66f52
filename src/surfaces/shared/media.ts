/**
 * Converts content parts for providers: some kinds of media as they are, and all other parts as
 * text.
 */

import { sanitizeText } from '../../core/serialize.ts';
import { partText } from '../../values/content.ts';
import { head } from '../../values/text/code-points.ts';
import type { ShownPart } from './outcome.ts';

/** Bytes, as base64, that a provider may accept. */
export interface ShownMedia {
  readonly kind: 'media';
  readonly data: string;
  /** The MIME type, in lower case and without parameters. */
  readonly mimeType: string;
  /** The name of a file, if the part has one. */
  readonly name?: string;
}

/** The text of a part that is not shown as media. */
export interface ShownText {
  readonly kind: 'text';
  readonly text: string;
}

/** The types of images that all providers read. */
export const commonImages: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
];

/**
 * Converts each part to media if its type is one of `accepted` and its bytes are base64, and to
 * text otherwise. Empty texts are left out.
 */
export function shownMedia(
  parts: readonly ShownPart[],
  accepted: readonly string[],
): (ShownMedia | ShownText)[] {
  return parts.flatMap((part): (ShownMedia | ShownText)[] => {
    const media = mediaOf(part);
    if (media !== undefined && accepted.includes(media.mimeType) && isBase64(media.data))
      return [media];
    const text = sanitizeText(partText(part));
    return text === '' ? [] : [{ kind: 'text', text }];
  });
}

function mediaOf(part: ShownPart): ShownMedia | undefined {
  if (part.type === 'image' || part.type === 'audio')
    return { kind: 'media', data: part.data, mimeType: plainType(part.mimeType) };
  if (part.type !== 'resource') return undefined;
  const { uri, mimeType, blob } = part.resource;
  if (typeof blob !== 'string' || typeof mimeType !== 'string') return undefined;
  const name = head(sanitizeText(uri.split(/[/\\]/).at(-1) ?? ''), 200);
  return {
    kind: 'media',
    data: blob,
    mimeType: plainType(mimeType),
    ...(name === '' ? {} : { name }),
  };
}

function plainType(mimeType: string): string {
  return (mimeType.split(';')[0] as string).trim().toLowerCase();
}

/** A provider refuses the whole request if the data is not valid base64. */
function isBase64(data: string): boolean {
  return data !== '' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}
