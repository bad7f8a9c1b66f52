/** Converts outputs for the Messages API. */
import { commonImages, shownMedia } from '../shared/media.ts';
import type { ShownOutcome } from '../shared/outcome.ts';
import type { AnthropicContent, AnthropicImageType } from './api-shapes.ts';

const accepted = [...commonImages, 'application/pdf'];

/** Returns a text, or blocks if the output does not consist of text alone. */
export function contentOf({ text, parts }: ShownOutcome): string | AnthropicContent[] {
  const media = parts === undefined ? [] : shownMedia(parts, accepted);
  if (media.every(({ kind }) => kind === 'text')) return text;
  return media.map((one): AnthropicContent => {
    if (one.kind === 'text') return { type: 'text', text: one.text };
    const { data, mimeType, name } = one;
    if (mimeType !== 'application/pdf')
      return {
        type: 'image',
        source: { type: 'base64', media_type: mimeType as AnthropicImageType, data },
      };
    return {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data },
      ...(name === undefined ? {} : { title: name }),
    };
  });
}
