/** A sentence of the library or of a host, in which backticks mark names. */
import { Fragment, type JSX } from 'preact';

export function Ticked({ text }: { readonly text: string }): JSX.Element {
  const parts = text.split('`');
  // An odd number of backticks marks nothing.
  if (parts.length % 2 === 0) return <>{text}</>;
  return (
    <>
      {parts.map((part, at) => (
        <Fragment key={at}>{at % 2 === 0 ? part : <span class="mono">{part}</span>}</Fragment>
      ))}
    </>
  );
}

/** The same without the marks, for labels. */
export function withoutTicks(text: string): string {
  return text.split('`').length % 2 === 0 ? text : text.replaceAll('`', '');
}
