/** A part of the page that scrolls. It takes the focus, so that the keyboard can scroll it. */
import type { ComponentChildren, JSX } from 'preact';

export function Scroll({
  label,
  name,
  children,
}: {
  readonly label: string;
  /** Names in the style sheet. */
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class={name} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
