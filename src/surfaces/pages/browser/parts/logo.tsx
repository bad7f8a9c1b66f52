/** The mark of the project: a call that passes a gate. */
import type { JSX } from 'preact';
import mark from './logo.svg';

export function Logo(): JSX.Element {
  return <img src={mark} width="22" height="22" alt="" />;
}
