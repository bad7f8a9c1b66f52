/** Content parts as providers take them: some kinds of media, and the text of the rest. */
import { partText } from '../../content.ts';
import { sanitizeText } from '../../serialize.ts';
import type { ShownPart } from './outcome.ts';

/** Bytes that a provider may take, as base64. */
export interface ShownMedia {
  readonly kind: 'media';
  readonly data: string;
  /** In lower case, without parameters. */
  readonly mimeType: string;
  /** What a file is called, where the part says so. */
  readonly name?: string;
}

/** Text in place of what cannot be shown otherwise. */
export interface ShownText {
  readonly kind: 'text';
  readonly text: string;
}

/** Images that every one of the providers reads. */
export const commonImages: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
];

/**
 * Each part as media where its type is one of `accepted` and its bytes are base64, else as text.
 * Texts without a character are left out.
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
  const name = sanitizeText(uri.split(/[/\\]/).at(-1) ?? '').slice(0, 200);
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

/** A provider refuses the whole request for bytes that are none. */
function isBase64(data: string): boolean {
  return data !== '' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}
