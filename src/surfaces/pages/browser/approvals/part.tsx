/** A part of an approval under a small title. */
import type { ComponentChildren, JSX } from 'preact';

export function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="part">
      <h3>{title}</h3>
      {children}
    </div>
  );
}
