/** The mark of the project: a call that passes a gate. It is also the icon of the page. */
import type { JSX } from 'preact';

const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');

export function Logo(): JSX.Element {
  return <img src={icon?.href} width="22" height="22" alt="" />;
}
