/**
 * Makes characters visible that would otherwise hide or reorder text, such as the one that reverses
 * the direction of text. They are shown as the escapes that JSON writes for them.
 */

// Controls, marks of direction, zero-width and other invisible characters, and tags.
const unseen =
  /[\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\udb40[\udc00-\udfff]/g;

function escapes(found: string, before: string): string {
  return Array.from({ length: found.length }, (_, at) => {
    const code = found.charCodeAt(at).toString(16).padStart(4, '0');
    return `${before}u${code}`;
  }).join('');
}

/** Reads JSON from the server. Invisible characters in its texts become visible escapes. */
export function parseVisible(json: string): unknown {
  return JSON.parse(json.replace(unseen, (found) => escapes(found, '\\\\')));
}

/** JSON for people, with invisible characters as escapes. */
export function visibleJson(value: unknown): string {
  return (JSON.stringify(value, null, 2) ?? '').replace(unseen, (found) => escapes(found, '\\'));
}
