/** JSON as plain text, with its parts in colours. */
import type { JSX } from 'preact';
import { Scroll } from './scroll.tsx';
import { visibleJson } from './visible.ts';

/** Above this many characters there are no colours. */
const maxColoured = 40_000;
const token =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function JsonText({
  value,
  label,
}: {
  /** Any JSON value, or a JSON text. */
  readonly value: unknown;
  readonly label: string;
}): JSX.Element {
  const text = visibleJson(value);
  return (
    <Scroll name="json" label={label}>
      <pre>{text.length > maxColoured ? text : coloured(text)}</pre>
    </Scroll>
  );
}

/** The value of a JSON text, or the text itself if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function coloured(text: string): (string | JSX.Element)[] {
  const parts: (string | JSX.Element)[] = [];
  let at = 0;
  for (const match of text.matchAll(token)) {
    parts.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    const [, string, colon] = match;
    if (string === undefined) parts.push(<span class="value">{match[0]}</span>);
    else if (colon === undefined) parts.push(<span class="text">{string}</span>);
    else parts.push(<span class="key">{string}</span>, colon);
  }
  parts.push(text.slice(at));
  return parts;
}
