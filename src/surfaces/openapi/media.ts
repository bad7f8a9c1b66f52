/** Media types: which of them are JSON, and which are text. */

/** A media type without its parameters, in lower case. */
export function mediaType(text: string): string {
  return (text.split(';', 1)[0] as string).trim().toLowerCase();
}

/** Whether a text can stand in a header as a media type without wildcards. */
export function isMediaType(text: string): boolean {
  return /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:\s*;\s*[\w-]+=[\w."-]+)*$/.test(text);
}

/** Whether a media type is JSON. One of lines of JSON is not. */
export function isJsonType(type: string): boolean {
  return /^(?:application|text)\/(?:json|[\w.!#$&^-]+\+json)$/.test(type);
}

/** Whether a media type is text that a model can read. */
export function isTextType(type: string): boolean {
  return (
    /^text\/[\w.+-]+$/.test(type) ||
    /^application\/(?:[\w.-]+\+)?(?:xml|yaml|x-yaml|text|javascript|x-ndjson|sql)$/.test(type)
  );
}
